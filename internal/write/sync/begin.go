package publish

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// begin finds the branch and its remote branch. It fails where sync cannot work: in a shallow clone, amid a merge, with a detached HEAD.
func (p *publishing) begin(ctx context.Context) error {
	if p.opts.Place.Shallow {
		return &failure.Error{Message: "this is a shallow clone: commits that it lacks may be needed", Remedy: "`git fetch --unshallow`, then " + p.git.again}
	}
	if err := p.refuseUnfinished(ctx); err != nil {
		return err
	}
	if err := p.findBranch(ctx); err != nil {
		return err
	}
	return p.findTarget(ctx)
}

// refuseUnfinished returns an error while git has something under way, or files are in conflict.
func (p *publishing) refuseUnfinished(ctx context.Context) error {
	unfinished, err := state.Read(p.git.gitDir)
	if err != nil {
		return err
	}
	paths, err := p.git.unmerged(ctx)
	if err != nil {
		return err
	}
	if unfinished.Command == "" && len(paths) == 0 {
		return nil
	}
	var byHand []string
	if err := p.opts.Combining(ctx, "", "", func(c *reconcile.Combiner) error {
		byHand = c.ByHand(paths)
		return nil
	}); err != nil {
		return err
	}
	if unfinished.Command != "" {
		return &failure.Error{
			Message: "a " + unfinished.Command + " is under way, which sync did not start",
			Remedy:  "finish it: " + unfinished.Remedy(byHand) + ", then " + p.git.again,
		}
	}
	f := &failure.Error{Message: "files are in conflict, as git stash pop or git checkout -m leaves them: " + listPaths(paths)}
	if len(byHand) > 0 {
		f.Remedy = "resolve it, then " + addCommand(byHand) + "; then "
	}
	if len(byHand) < len(paths) {
		f.Remedy += "`small-hook reconcile`, then "
	}
	f.Remedy += p.git.again
	return f
}

// findBranch finds the branch that is checked out, and its commit.
func (p *publishing) findBranch(ctx context.Context) error {
	done, err := p.git.runYesNo(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil {
		return err
	}
	p.branch = trimLine(string(done.Out))
	if err := p.readRefs(ctx); err != nil {
		return err
	}
	switch {
	case p.branch == "":
		head, err := p.git.run(ctx, "rev-parse", "--verify", "HEAD")
		if err != nil {
			return err
		}
		return &failure.Error{
			Message: "HEAD is detached: no branch is checked out that could be pushed",
			Remedy:  "make one: `git switch -c detached-" + history.Short(head) + "`, then " + p.git.again,
		}
	case p.refs[p.branch] == "":
		return &failure.Error{Message: wording.Printable(short(p.branch)) + " has no commit yet, so there is nothing to push", Remedy: "commit first"}
	}
	return nil
}

// findTarget finds the branch to push to: the one that the caller names, else the branch's upstream, else the branch of the same name on origin.
func (p *publishing) findTarget(ctx context.Context) error {
	settings, remotes, err := p.readSettings(ctx)
	if err != nil {
		return err
	}
	p.sign = isTrue(settings["commit.gpgsign"])
	follows, merge := settings["branch."+short(p.branch)+".remote"], settings["branch."+short(p.branch)+".merge"]
	p.hasUpstream = follows != "" && merge != ""
	p.remote, p.target = "origin", p.branch
	if p.hasUpstream && follows != "." { // "." is another local branch
		p.remote, p.target = follows, merge
	}
	if p.opts.Remote != "" && p.opts.Remote != p.remote {
		p.remote, p.target = p.opts.Remote, p.branch
	}
	if p.opts.Branch != "" {
		p.target = "refs/heads/" + short(p.opts.Branch)
		// With --branch, git check-ref-format also refuses HEAD and -x. It does not refuse @{-1}, but prints the branch that this means.
		valid, err := p.git.Run(ctx, nil, "check-ref-format", "--branch", short(p.target))
		if err != nil || trimLine(string(valid.Out)) != short(p.target) {
			return &failure.Error{
				Message: fmt.Sprintf("%s is not a valid branch name", wording.Quote(short(p.target))),
				Remedy:  "push to the branch of the same name: " + Options{Remote: p.remote, Merge: p.opts.Merge}.command(), Err: err,
			}
		}
	}
	if !slices.Contains(remotes, p.remote) {
		return p.errNoRemote(remotes)
	}
	return nil
}

// readSettings reads from git's configuration where branches are pushed, whether commits are signed, and the names of the remotes.
func (p *publishing) readSettings(ctx context.Context) (values map[string]string, remotes []string, err error) {
	done, err := p.git.runYesNo(ctx, "config", "-z", "--get-regexp", `^(remote\..*|branch\..*\.(remote|merge)|commit\.gpgsign)$`)
	values = map[string]string{}
	for setting := range strings.SplitSeq(strings.TrimSuffix(string(done.Out), "\x00"), "\x00") {
		key, value, given := strings.Cut(setting, "\n")
		if !given {
			value = "true"
		}
		if _, seen := values[key]; !seen || !strings.HasSuffix(key, ".merge") { // as in git: of what a branch merges the first counts, of all else the last
			values[key] = value
		}
		if name, is := strings.CutPrefix(key, "remote."); is && strings.Contains(name, ".") {
			if name = name[:strings.LastIndexByte(name, '.')]; !slices.Contains(remotes, name) {
				remotes = append(remotes, name)
			}
		}
	}
	return values, remotes, err
}

func isTrue(setting string) bool {
	n, err := strconv.Atoi(setting)
	return err == nil && n != 0 || slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(setting))
}

func (p *publishing) errNoRemote(known []string) error {
	f := &failure.Error{Message: "there is no remote " + wording.Quote(p.remote)}
	if len(known) > 0 {
		f.Message += "; there is " + wording.Printable(strings.Join(known, ", "))
		f.Remedy = "push to a remote that exists: " + Options{Remote: known[0], Branch: p.opts.Branch, Merge: p.opts.Merge}.command()
		return f
	}
	f.Remedy = "add the remote with git remote add, under the name " + wording.ShellWord(p.remote) + "; then " + p.git.again
	return f
}

// listPaths names the first few paths, and says how many more there are.
func listPaths(paths []string) string {
	const most = 5
	var names []string
	for _, path := range paths {
		names = append(names, wording.Printable(path))
	}
	return strings.Join(wording.FirstFew(most, names), ", ")
}

// addCommand returns the git command that marks paths as resolved.
func addCommand(paths []string) string { return "`git add -- " + topPaths(paths) + "`" }

// topPaths writes paths for a git command so that it works in every directory of the work tree.
func topPaths(paths []string) string {
	var words []string
	for _, path := range paths {
		words = append(words, wording.ShellWord(":(top,literal)"+path))
	}
	return strings.Join(words, " ")
}
