package githistory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Resolve turns a revision (gitrevisions(7)) into a commit's full id. It follows tags, and refuses a name that begins with a dash.
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	if !IsRevision(name) {
		return "", NotARevision(name)
	}
	exists, err := r.baseRefExists(ctx, name)
	if err != nil {
		return "", err
	}
	if !exists {
		return "", NotResolved(name, r.Shallow, false, errors.New("no such ref"))
	}
	if name == "HEAD" && r.headHasNoConfig {
		return r.head, nil // the commit exists: Open has read its tree
	}
	if id := r.resolveWithBatch(ctx, name); id != "" {
		return id, nil
	}
	out, err := r.git.Output(ctx, nil, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err == nil {
		if id := strings.TrimSuffix(string(out), "\n"); r.format.Valid(id) {
			return id, nil
		}
		err = fmt.Errorf("git rev-parse answered %q", wording.Printable(string(out)))
	}
	if !gitcmd.ExitedWith(err, 128) {
		return "", r.toFailure(fmt.Sprintf("cannot look up %q", name), err)
	}
	return "", NotResolved(name, r.Shallow, r.format.Valid(name), err)
}

// baseRefExists reports whether the ref with which a revision begins exists. It checks only HEAD and full names, and returns true for any other.
// If such a ref were missing, git would try refs/tags/<name>, refs/heads/<name> and others, which anybody who may push can create.
func (r *Repo) baseRefExists(ctx context.Context, revision string) (bool, error) {
	ref := refIn(revision)
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
	return err == nil, r.toFailure(fmt.Sprintf("cannot look up %q", revision), err)
}

// Head returns the commit that HEAD named when the repository was opened; empty on a branch without commits.
func (r *Repo) Head(ctx context.Context) (string, error) {
	if r.head != "" {
		return r.head, nil
	}
	// Open's answer is also empty if the ref is damaged. The branch has no commits only if its ref is missing; lookUpRefs fails on a damaged one.
	const damaged = "HEAD is damaged"
	branch, err := r.CurrentBranch(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		out, err := r.git.Output(ctx, nil, "show-ref", "--verify", "--hash", "--", "HEAD")
		return strings.TrimSuffix(string(out), "\n"), r.toFailure(damaged, err)
	}
	refs, err := r.lookUpRefs(ctx, branch)
	return refs[branch].ID, r.toFailure(damaged, err)
}

// MergeBases returns the best common ancestors of two commits, sorted by id: none if their histories are unrelated, several after criss-cross
// merges. It fails in a shallow clone that may hide one.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	if err := r.format.Check(a, b); err != nil {
		return nil, err
	}
	if err := r.checkNothingHidden(ctx, a, b); err != nil {
		return nil, err
	}
	pair := [2]string{a, b}
	if known, ok := r.bases.Load(pair); ok {
		return slices.Clone(known.([]string)), nil //nolint:errcheck // nothing else is stored
	}
	out, err := r.git.Output(ctx, nil, "merge-base", "--all", a, b)
	if gitcmd.ExitedWith(err, 1) && len(out) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot find the merge base", err, a, b)
	}
	bases := strings.Fields(string(out))
	slices.Sort(bases)
	if err := r.format.Check(bases...); err != nil {
		return nil, err
	}
	r.bases.Store(pair, slices.Clone(bases))
	return bases, nil
}

// IsAncestor reports whether ancestor is commit or reachable from it. It fails in a shallow clone that may hide the path between them.
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	if err := r.format.Check(ancestor, commit); err != nil {
		return false, err
	}
	_, err := r.git.Output(ctx, nil, "merge-base", "--is-ancestor", ancestor, commit)
	switch {
	case err == nil:
		return true, nil
	case gitcmd.ExitedWith(err, 1):
		// This answer is right only if no history is hidden.
		return false, r.checkNothingHidden(ctx, commit, ancestor)
	}
	return false, r.explainMissing(ctx, "cannot compare commits", err, ancestor, commit)
}

// checkNothingHidden fails in a shallow clone if a commit that only one of a and b reaches is at the boundary: the history hidden behind it may
// connect the two. History hidden behind commits that both reach does not matter.
func (r *Repo) checkNothingHidden(ctx context.Context, a, b string) error {
	if !r.Shallow {
		return nil
	}
	for _, side := range [][2]string{{a, b}, {b, a}} {
		if _, err := r.Commits(ctx, side[:1], side[1:]); err != nil {
			return err
		}
	}
	return nil
}

// Refs looks up refs and all refs below them, as [Refs] says.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) (map[string]Branch, error) {
	refs, err := r.lookUpRefs(ctx, prefixes...)
	return refs, r.toFailure("cannot look up refs", err)
}

// InitBranch returns the configured init.defaultBranch; empty if it is not set.
func (r *Repo) InitBranch(ctx context.Context) (string, error) {
	branch, err := InitBranch(ctx, r.git)
	return branch, r.toFailure("cannot read init.defaultBranch", err)
}

// InitBranch asks a git for its init.defaultBranch; it is empty if it is not set.
func InitBranch(ctx context.Context, git gitcmd.Git) (string, error) {
	out, err := git.Output(ctx, nil, "config", "-z", "--get", "init.defaultBranch")
	if gitcmd.ExitedWith(err, 1) { // it is not set
		err = nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}

// lookUpRefs does what Refs does, but the caller has to turn the error into a failure.
func (r *Repo) lookUpRefs(ctx context.Context, prefixes ...string) (map[string]Branch, error) {
	out, err := r.forEachRef(ctx, append([]string{"--format=%(refname) %(objectname) %(symref)"}, prefixes...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]Branch{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 || !r.format.Valid(f[1]) {
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

// forEachRef runs git for-each-ref. It fails if a ref cannot be read. git itself only warns about a broken ref, and may not notice a damaged line
// of packed-refs.
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
