package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wording"
)

// commandLine is the installed git in one work tree.
type commandLine struct {
	top, gitDir string
	environ     []string
}

// result is what a git process came to. Its words are not for programs: they are in the user's language.
type result struct {
	status      int
	out, stderr string
	// hook is the hook that refused, if git was run by hooked.
	hook string
}

func openGit(place githistory.Place, environ []string) (*commandLine, error) {
	git, err := place.WorkingGit(environ)
	return &commandLine{top: place.Top, gitDir: place.GitDir, environ: git.Environ}, err
}

// try runs git. Its error is that git could not be run to its end; a status other than 0 is a result.
func (g *commandLine) try(ctx context.Context, args ...string) (result, error) {
	r, err := gitcmd.Git{Dir: g.top, Environ: g.environ}.Run(ctx, nil, args...)
	done := result{status: r.Status, out: string(r.Out), stderr: r.Stderr}
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case err != nil:
		return done, &failure.Error{Message: err.Error(), Err: err}
	}
	return done, nil
}

// run runs git, which must succeed, and returns what it printed without the last line's end.
func (g *commandLine) run(ctx context.Context, args ...string) (string, error) {
	done, err := g.try(ctx, args...)
	if err == nil && done.status != 0 {
		err = g.failed(args, done)
	}
	return strings.TrimSuffix(done.out, "\n"), err
}

// ask runs a git command that answers with its status: 0 is yes and 1 is no.
func (g *commandLine) ask(ctx context.Context, args ...string) (result, error) {
	done, err := g.try(ctx, args...)
	if err == nil && done.status > 1 {
		err = g.failed(args, done)
	}
	return done, err
}

// holds is the answer alone.
func (g *commandLine) holds(ctx context.Context, args ...string) (bool, error) {
	done, err := g.ask(ctx, args...)
	return done.status == 0, err
}

// lockName finds the lock in git's words, whatever language they are in.
var lockName = expression.Of(`'([^'\n]+\.lock)'`)

// failed is the failure for a git that failed.
func (g *commandLine) failed(args []string, done result) error {
	f := &failure.Error{Message: fmt.Sprintf("git %s ended with status %d: %s", subcommand(args), done.status, oneLine(done.stderr))}
	lock := filepath.Join(g.gitDir, "index.lock") // about which git stash says nothing
	if named := lockName().FindStringSubmatch(done.stderr); named != nil {
		lock = named[1]
	}
	if _, err := os.Lstat(lock); err == nil {
		f.Remedy = "if no other git is at work here, one was killed: `rm -f " + wording.ShellWord(lock) + "`, then `small-hook sync`"
	}
	return f
}

// subcommand is the first argument that is no option of git itself.
func subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	return wording.Printable(strings.Join(lines, "; "))
}

// id is the commit that a revision names, empty if there is none.
func (g *commandLine) id(ctx context.Context, revision string) (string, error) {
	done, err := g.ask(ctx, "rev-parse", "-q", "--verify", revision+"^{commit}")
	return trimmed(done.out), err
}

// count counts the commits of a rev-list.
func (g *commandLine) count(ctx context.Context, args ...string) (int, error) {
	out, err := g.run(ctx, append([]string{"rev-list", "--count"}, args...)...)
	if err != nil {
		return 0, err
	}
	var n int
	if _, err := fmt.Sscan(out, &n); err != nil {
		return 0, &failure.Error{Message: fmt.Sprintf("git rev-list --count printed %q", wording.Clip(out)), Err: err}
	}
	return n, nil
}

// paths runs a git command that prints paths, each ended by a null byte.
func (g *commandLine) paths(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.run(ctx, args...)
	if out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), err
}

// underWay is what git has not finished here, as the name of its command; empty for nothing.
func (g *commandLine) underWay() (string, error) {
	u, err := reconcile.UnderWay(g.gitDir)
	return u.Command, err
}

// branch is the full name of the branch that is checked out, or is being rebased; empty if HEAD is detached.
func (g *commandLine) branch(ctx context.Context) (string, error) {
	done, err := g.ask(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil || done.status == 0 {
		return trimmed(done.out), err
	}
	name, err := os.ReadFile(filepath.Join(g.gitDir, "rebase-merge", "head-name"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", &failure.Error{Message: "cannot read which branch is being rebased: " + err.Error(), Err: err}
	}
	branch := trimmed(string(name))
	if !strings.HasPrefix(branch, "refs/heads/") { // "detached HEAD"
		return "", nil
	}
	return branch, nil
}

// unmerged lists the paths in conflict.
func (g *commandLine) unmerged(ctx context.Context) ([]string, error) {
	return g.paths(ctx, "diff", "--name-only", "--diff-filter=U", "--no-ext-diff", "-z")
}
