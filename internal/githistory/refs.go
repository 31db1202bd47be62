package githistory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/wording"
)

// Resolve turns a revision, as git understands one, into a commit's full id.
// Tags are followed. A name that begins with a dash is refused.
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if !IsRevision(name) {
		return "", NotARevision(name)
	}
	exact, err := r.named(ctx, name)
	if err != nil {
		return "", err
	}
	if !exact {
		return "", NotResolved(name, r.Shallow, false, errors.New("no such ref"))
	}
	out, err := r.git.Output(ctx, nil, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err == nil {
		if id := strings.TrimSuffix(string(out), "\n"); r.format.valid(id) {
			return id, nil
		}
		err = fmt.Errorf("git rev-parse answered %q", wording.Printable(string(out)))
	}
	if !gitcmd.ExitedWith(err, 128) {
		return "", r.failure(fmt.Sprintf("cannot look up %q", name), err)
	}
	return "", NotResolved(name, r.Shallow, r.format.valid(name), err)
}

// named reports whether the ref is there with which a revision begins, where that
// is HEAD or written in full; any other name is left to git. Where such a ref is
// missing, git goes on to refs/tags/<name>, refs/heads/<name> and others, which
// anybody who may push can make.
func (r *Repo) named(ctx context.Context, revision string) (bool, error) {
	ref := BaseOf(revision)
	switch {
	case ref == "HEAD":
		head, err := r.Head(ctx)
		return head != "", err
	case !strings.HasPrefix(ref, "refs/"):
		return true, nil
	}
	_, err := r.git.Output(ctx, nil, "show-ref", "--verify", "--quiet", "--", ref)
	if gitcmd.ExitedWith(err, 1) {
		return false, nil
	}
	return err == nil, r.failure(fmt.Sprintf("cannot look up %q", revision), err)
}

// Head is the id of the commit that HEAD named when the repository was opened,
// or empty on a branch without commits.
func (r *Repo) Head(ctx context.Context) (string, error) {
	if r.head != "" {
		return r.head, nil
	}
	// No answer can also mean a damaged ref. Only a branch that is really
	// absent is one without commits; about a damaged one git warns.
	const damaged = "HEAD is damaged"
	branch, err := r.CurrentBranch(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		out, err := r.git.Output(ctx, nil, "show-ref", "--verify", "--hash", "--", "HEAD")
		return strings.TrimSuffix(string(out), "\n"), r.failure(damaged, err)
	}
	refs, err := r.refs(ctx, branch)
	return refs[branch].ID, r.failure(damaged, err)
}

// MergeBases are the best common ancestors of two commits, in order of id: none
// if their histories are unrelated, several after criss-cross merges. In a shallow
// clone that may hide an answer it is an error.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	if err := r.format.check(a, b); err != nil {
		return nil, err
	}
	if err := CheckDifference(ctx, r, r.Shallow, a, b); err != nil {
		return nil, err
	}
	out, err := r.git.Output(ctx, nil, "merge-base", "--all", a, b)
	if gitcmd.ExitedWith(err, 1) && len(out) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot find where the histories part", err, a, b)
	}
	bases := strings.Fields(string(out))
	slices.Sort(bases)
	return bases, r.format.check(bases...)
}

// IsAncestor reports whether ancestor is commit or reachable from it. In a
// shallow clone that may hide the way from one to the other it is an error.
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	if err := r.format.check(ancestor, commit); err != nil {
		return false, err
	}
	_, err := r.git.Output(ctx, nil, "merge-base", "--is-ancestor", ancestor, commit)
	switch {
	case err == nil:
		return true, nil
	case gitcmd.ExitedWith(err, 1):
		// A no is only as good as the history that was seen.
		return false, CheckDifference(ctx, r, r.Shallow, commit, ancestor)
	}
	return false, r.explainMissing(ctx, "cannot compare commits", err, ancestor, commit)
}

// CheckDifference fails if, in a shallow clone, the commits that only one of two can
// reach touch the boundary: what is hidden there may connect them. Hidden history
// that both share cannot.
func CheckDifference(ctx context.Context, h history.History, shallow bool, a, b string) error {
	if !shallow {
		return nil
	}
	for _, side := range [][2]string{{a, b}, {b, a}} {
		if _, err := h.Commits(ctx, side[:1], side[1:]); err != nil {
			return err
		}
	}
	return nil
}

// Refs looks refs up by their full names. One that does not exist, or names
// another that does not, is not in the answer; a symbolic one is answered with
// the ref that it names. A damaged ref is an error.
func (r *Repo) Refs(ctx context.Context, names ...string) (map[string]Branch, error) {
	refs, err := r.refs(ctx, names...)
	return refs, r.failure("cannot look up the default branch", err)
}

// Branches are the branches below a prefix ("refs/heads/") by their full names, and the commits at their tips. A symbolic ref
// (refs/remotes/origin/HEAD) is none.
func (r *Repo) Branches(ctx context.Context, prefix string) (map[string]string, error) {
	refs, err := r.refs(ctx, prefix)
	if err != nil {
		return nil, r.failure("cannot list branches", err)
	}
	tips := map[string]string{}
	for name, branch := range refs {
		if branch.Ref == name {
			tips[name] = branch.ID
		}
	}
	return tips, nil
}

// InitBranch is init.defaultBranch as it is configured; empty if it is not.
func (r *Repo) InitBranch(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "config", "-z", "--get", "init.defaultBranch")
	if err != nil && !gitcmd.ExitedWith(err, 1) { // 1: not set
		return "", r.failure("cannot read init.defaultBranch", err)
	}
	return strings.TrimSuffix(string(out), "\x00"), nil
}

// refs is Refs without the words of a failure.
func (r *Repo) refs(ctx context.Context, names ...string) (map[string]Branch, error) {
	out, err := r.forEachRef(ctx, append([]string{"--format=%(refname) %(objectname) %(symref)"}, names...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]Branch{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 || !r.format.valid(f[1]) {
			return nil, fmt.Errorf("git for-each-ref printed %q", wording.Printable(line))
		}
		branch := Branch{Ref: f[0], ID: f[1]}
		if f[2] != "" {
			branch.Ref = f[2]
		}
		found[f[0]] = branch
	}
	return found, nil
}

// forEachRef is git for-each-ref, for which a ref that cannot be read is an
// error: git only warns of it, or does not even see it.
func (r *Repo) forEachRef(ctx context.Context, args ...string) (string, error) {
	if err := r.checkPackedRefs(); err != nil {
		return "", err
	}
	done, err := r.git.Run(ctx, nil, append([]string{"for-each-ref"}, args...)...)
	if err == nil && (done.Status != 0 || strings.Contains(done.Stderr, "broken ref")) {
		err = &gitcmd.Error{Command: "for-each-ref", Status: done.Status, Stderr: done.Stderr}
	}
	return string(done.Out), err
}
