package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// commandLine is the installed git in one work tree. gitDir is that work tree's git directory.
type commandLine struct {
	gitcmd.Git
	gitDir string
}

func openGit(place githistory.Place, environ []string) (*commandLine, error) {
	git, err := place.WorkingGit(environ)
	return &commandLine{Git: git, gitDir: place.GitDir}, err
}

// staging is the git that changes files.
type staging struct{ *commandLine }

// Stage puts files into the index, all or none.
func (g staging) Stage(ctx context.Context, files []history.File) error {
	_, err := g.runInput(ctx, workgit.IndexInfo(files), "update-index", "-z", "--index-info")
	return err
}

// Run runs git, and returns its output.
func (g staging) Run(ctx context.Context, args ...string) ([]byte, error) {
	out, err := g.run(ctx, args...)
	return []byte(out), err
}

// runRetryingLocks runs git, and tries again for a second while another git holds a lock, such as an editor's or a fetch in another work tree.
func (g *commandLine) runRetryingLocks(ctx context.Context, input string, args ...string) (gitcmd.Result, error) {
	for tries := 20; ; tries-- {
		done, err := g.Run(ctx, strings.NewReader(input), args...)
		busy := strings.Contains(done.Stderr, "index.lock': File exists") || strings.Contains(done.Stderr, "cannot lock ref")
		if err != nil || done.Status == 0 || !busy || tries == 0 {
			return done, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// runInput runs git with an input and returns what it printed, without the last line break. A status other than 0 is an error.
func (g *commandLine) runInput(ctx context.Context, input string, args ...string) (string, error) {
	done, err := g.runRetryingLocks(ctx, input, args...)
	if err == nil && done.Status != 0 {
		err = g.failed(args, done)
	}
	return trimmed(string(done.Out)), err
}

// run is runInput without an input.
func (g *commandLine) run(ctx context.Context, args ...string) (string, error) {
	return g.runInput(ctx, "", args...)
}

// runYesNo runs a git command that answers with its status: 0 is yes, 1 is no, and anything else is an error.
func (g *commandLine) runYesNo(ctx context.Context, args ...string) (gitcmd.Result, error) {
	done, err := g.Run(ctx, nil, args...)
	if err == nil && done.Status > 1 {
		err = g.failed(args, done)
	}
	return done, err
}

// lockName finds the name of the lock in git's message.
var lockName = expression.Of(`'([^'\n]+\.lock)'`)

// failed is the failure for a git that ended with a status other than 0.
func (g *commandLine) failed(args []string, done gitcmd.Result) error {
	lock := filepath.Join(g.gitDir, "index.lock")
	if named := lockName().FindStringSubmatch(done.Stderr); named != nil {
		lock = named[1]
	}
	if _, err := os.Lstat(lock); err == nil {
		return &failure.Error{
			Message: "another git is at work here, or was killed: " + wording.Printable(lock) + " exists",
			Remedy:  "if none is: `rm -f " + wording.ShellWord(lock) + "`, then `small-hook sync`",
		}
	}
	f := &failure.Error{Message: fmt.Sprintf("git %s ended with status %d: %s", gitcmd.Subcommand(args), done.Status, gitcmd.OneLine(done.Stderr))}
	if g.full() {
		f.Message = "no space left on device: " + f.Message
	}
	return f
}

// failure is failed for the error of a git that ended with a status other than 0, unless somebody has said already what it means.
func (g *commandLine) failure(err error) error {
	var e *gitcmd.Error
	if said := new(failure.Error); !errors.As(err, &said) && errors.As(err, &e) && e.Err == nil {
		return g.failed([]string{e.Command}, gitcmd.Result{Status: e.Status, Stderr: e.Stderr})
	}
	return err
}

// full reports whether the disk is full. It writes a file to find out: git says it in many ways.
func (g *commandLine) full() bool {
	file, err := os.CreateTemp(g.gitDir, "small-gate-room-")
	if err == nil {
		_, err = file.Write(make([]byte, 1<<18))
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
}

// cannotWrite is the failure for a file in the git directory or the work tree that cannot be written.
func cannotWrite(err error) error {
	return &failure.Error{Message: "cannot write: " + wording.Printable(err.Error()), Err: err}
}

// paths runs a git command that prints paths, each ended by a null byte.
func (g *commandLine) paths(ctx context.Context, args ...string) ([]string, error) {
	done, err := g.run(ctx, args...)
	if done == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(done, "\x00"), "\x00"), err
}

// unmerged lists the paths in conflict.
func (g *commandLine) unmerged(ctx context.Context) ([]string, error) {
	lines, err := g.paths(ctx, "ls-files", "-z", "--unmerged", "--full-name", ":/")
	var out []string
	for _, line := range lines {
		_, path, _ := strings.Cut(line, "\t")
		out = append(out, path)
	}
	return slices.Compact(out), err
}

func trimmed(line string) string { return strings.TrimSuffix(line, "\n") }
