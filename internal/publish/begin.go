package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wording"
)

// begin finds out where it stands, and refuses where nothing can be brought together.
func (p *publishing) begin(ctx context.Context) error {
	if p.opts.Place.Shallow {
		return &failure.Error{Message: "this is a shallow clone: what it hides may be needed", Remedy: "`git fetch --unshallow`, then `small-hook sync`"}
	}
	if err := p.idle(ctx); err != nil {
		return err
	}
	branch, err := p.currentBranch(ctx)
	if err != nil {
		return err
	}
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return err
	}
	if head == "" {
		return &failure.Error{Message: wording.Printable(short(branch)) + " has no commit yet, so there is nothing to push", Remedy: "commit first"}
	}
	remote, target, err := p.destination(ctx, branch)
	if err != nil {
		return err
	}
	if p.from = head; !p.noted {
		p.state = state{Branch: branch, Tip: head, Remote: remote, Target: target, Merge: p.opts.Merge || p.state.Merge}
	}
	return p.setAside(ctx)
}

// idle refuses to begin while something else is under way.
func (p *publishing) idle(ctx context.Context) error {
	unfinished, err := reconcile.UnderWay(p.git.gitDir)
	if err != nil {
		return err
	}
	if unfinished.Command != "" {
		return &failure.Error{
			Message: "a " + unfinished.Command + " is under way, which this sync has not begun",
			Remedy:  "finish it: " + unfinished.Remedy() + ", then `small-hook sync`",
		}
	}
	paths, err := p.git.unmerged(ctx)
	if err != nil || len(paths) == 0 {
		return err
	}
	f := &failure.Error{Message: list(paths) + " is in conflict, as git stash pop or git checkout -m leaves it"}
	outside := slices.DeleteFunc(slices.Clone(paths), isBelowSmall)
	if len(outside) > 0 {
		f.Remedy = "resolve it, then " + add(outside) + "; then "
	}
	if len(outside) < len(paths) {
		f.Remedy += "`small-hook reconcile`, then "
	}
	f.Remedy += "`small-hook sync`"
	return f
}

func (p *publishing) currentBranch(ctx context.Context) (string, error) {
	branch, err := p.git.branch(ctx)
	if err != nil || branch != "" {
		return branch, err
	}
	head, err := p.git.id(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	return "", &failure.Error{
		Message: "HEAD is detached: no branch is checked out that could be pushed",
		Remedy:  "make one: `git switch -c detached-" + history.Short(head) + "`, then `small-hook sync`",
	}
}

// destination is where the branch goes: what the caller names, else what the branch follows, else origin and its own name.
func (p *publishing) destination(ctx context.Context, branch string) (remote, target string, err error) {
	known, err := p.git.run(ctx, "remote")
	if err != nil {
		return "", "", err
	}
	remotes := strings.Fields(known)
	follows, err := p.setting(ctx, "branch."+short(branch)+".remote")
	if err != nil {
		return "", "", err
	}
	merge, err := p.setting(ctx, "branch."+short(branch)+".merge")
	if err != nil {
		return "", "", err
	}
	p.follows = follows != "" && follows != "." && merge != "" // "." is another local branch
	remote, target = "origin", branch
	if p.follows {
		remote, target = follows, merge
	}
	if p.opts.Remote != "" && p.opts.Remote != remote {
		remote, target = p.opts.Remote, branch
	}
	if p.opts.Continue {
		remote, target = p.state.Remote, p.state.Target
	}
	if p.opts.Branch != "" {
		target = "refs/heads/" + short(p.opts.Branch)
	}
	if valid, err := p.git.holds(ctx, "check-ref-format", target); err != nil || !valid {
		return "", "", &failure.Error{Message: fmt.Sprintf("%s is no name for a branch", wording.Quote(short(target))), Remedy: "`small-hook sync`", Err: err}
	}
	if !slices.Contains(remotes, remote) {
		return "", "", noRemote(remote, remotes)
	}
	return remote, target, nil
}

// setting is the first value of a key in git's configuration, empty if there is none.
func (p *publishing) setting(ctx context.Context, key string) (string, error) {
	done, err := p.git.ask(ctx, "config", "--get-all", "-z", key)
	value, _, _ := strings.Cut(done.out, "\x00")
	return value, err
}

func noRemote(name string, known []string) error {
	f := &failure.Error{Message: "there is no remote " + wording.Quote(name)}
	if len(known) > 0 {
		f.Message += "; there is " + wording.Printable(strings.Join(known, ", "))
		f.Remedy = fmt.Sprintf("name it: `small-hook sync %s`", wording.ShellWord(known[0]))
		return f
	}
	f.Remedy = "add the remote with git remote add, under the name origin; then `small-hook sync`"
	return f
}

// dirty lists the uncommitted changes to files that git knows: those below .small, and others.
func (p *publishing) dirty(ctx context.Context) (inside, outside []string, err error) {
	for _, what := range [][]string{{"HEAD"}, {"--cached", "HEAD"}} {
		paths, err := p.git.paths(ctx, append([]string{"diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "-z"}, what...)...)
		if err != nil {
			return nil, nil, err
		}
		for _, path := range paths {
			into := &outside
			if isBelowSmall(path) {
				into = &inside
			}
			if !slices.Contains(*into, path) {
				*into = append(*into, path)
			}
		}
	}
	return inside, outside, nil
}

// list names some paths in a message.
func list(paths []string) string {
	const most = 5
	var names []string
	for _, path := range paths[:min(len(paths), most)] {
		names = append(names, wording.Printable(path))
	}
	if more := len(paths) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// add is the command that marks paths as resolved.
func add(paths []string) string { return "`git add -- " + topPaths(paths) + "`" }

// topPaths are paths as words of a shell for git, whatever directory they are typed in.
func topPaths(paths []string) string {
	var words []string
	for _, path := range paths {
		words = append(words, wording.ShellWord(":(top,literal)"+path))
	}
	return strings.Join(words, " ")
}
