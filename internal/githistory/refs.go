package githistory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	out, err := r.output(ctx, nil, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err == nil {
		if id := strings.TrimSuffix(string(out), "\n"); r.format.valid(id) {
			return id, nil
		}
		err = fmt.Errorf("git rev-parse answered %q", Printable(string(out)))
	}
	if !exitedWith(err, 128) {
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
	_, err := r.output(ctx, nil, "show-ref", "--verify", "--quiet", "--", ref)
	if exitedWith(err, 1) {
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
		out, err := r.output(ctx, nil, "show-ref", "--verify", "--hash", "--", "HEAD")
		return strings.TrimSuffix(string(out), "\n"), r.failure(damaged, err)
	}
	refs, err := r.refs(ctx, branch)
	return refs[branch].ID, r.failure(damaged, err)
}

// MergeHeads are the commits that a merge under way brings, in the order of
// the merge; none if there is no merge. Where a tag is merged, it is the tag's
// commit.
func (r *Repo) MergeHeads(ctx context.Context) ([]string, error) {
	heads, err := ReadMergeHead(r.GitDir)
	if err != nil || len(heads) == 0 {
		return nil, r.failure("cannot read what is being merged", err)
	}
	if r.format.check(heads...) != nil {
		return nil, DamagedMergeHead()
	}
	commits, err := r.peel(ctx, heads, "commit")
	if err != nil {
		return nil, r.failure("cannot look up what is being merged", err)
	}
	if slices.Contains(commits, "") {
		return nil, r.explainMissing(ctx, "cannot look up what is being merged", errors.New("no such commit"), heads)
	}
	return commits, nil
}

// ReadMergeHead reads what is being merged, nothing if there is no merge. git keeps
// the file in the work tree's own git directory whatever the storage of refs.
func ReadMergeHead(gitDir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(gitDir, "MERGE_HEAD"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(data) == 0 {
		err = DamagedMergeHead()
	}
	var heads []string
	for line := range strings.Lines(string(data)) {
		heads = append(heads, strings.TrimRight(line, "\r\n"))
	}
	return heads, err
}

// GitHeads are the commits that git merge names in GITHEAD_<id> variables for
// its hooks, sorted. MERGE_HEAD does not exist yet when pre-merge-commit runs.
func GitHeads(environ []string) []string {
	var heads []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		id, ok := strings.CutPrefix(name, "GITHEAD_")
		if ok && (len(id) == 40 || len(id) == 64) && IsHex(id) {
			heads = append(heads, id)
		}
	}
	slices.Sort(heads)
	return slices.Compact(heads)
}

// MergeBases are the best common ancestors of two commits, in order of id: none
// if their histories are unrelated, several after criss-cross merges. In a shallow
// clone that may hide an answer it is an error.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	if err := r.format.check(a, b); err != nil {
		return nil, err
	}
	if err := r.checkDifference(ctx, a, b); err != nil {
		return nil, err
	}
	out, err := r.output(ctx, nil, "merge-base", "--all", a, b)
	if exitedWith(err, 1) && len(out) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot find where the histories part", err, []string{a, b})
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
	_, err := r.output(ctx, nil, "merge-base", "--is-ancestor", ancestor, commit)
	switch {
	case err == nil:
		return true, nil
	case exitedWith(err, 1):
		// A no is only as good as the history that was seen.
		return false, r.checkDifference(ctx, commit, ancestor)
	}
	return false, r.explainMissing(ctx, "cannot compare commits", err, []string{ancestor, commit})
}

// checkDifference fails if, in a shallow clone, the commits that only one of
// the two can reach touch the boundary: what is hidden there may connect them.
// Hidden history that both share cannot.
func (r *Repo) checkDifference(ctx context.Context, a, b string) error {
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

// Branch is a ref and the commit at its tip. One without an ID is missing while
// other branches are there.
type Branch struct{ Ref, ID string }

// Missing reports whether HEAD names a branch that is not there, while others
// are.
func (b Branch) Missing() bool { return b.Ref != "" && b.ID == "" }

// HeadBranch is what the repository's own HEAD names: a branch, or HEAD itself
// where it is detached. The zero Branch means that there is no branch yet.
func (r *Repo) HeadBranch(ctx context.Context) (Branch, error) {
	name, err := r.CurrentBranch(ctx)
	if err != nil {
		return Branch{}, err
	}
	if name == "" {
		id, err := r.Head(ctx)
		return Branch{Ref: "HEAD", ID: id}, err
	}
	refs, err := r.refs(ctx, name)
	if err != nil {
		return Branch{}, r.failure("cannot look up the default branch", err)
	}
	if branch, ok := refs[name]; ok {
		return branch, nil
	}
	others, err := r.Tips(ctx, "refs/heads/")
	if err != nil || len(others) == 0 {
		return Branch{}, err
	}
	return Branch{Ref: name}, nil
}

// DefaultBranch looks the default branch up: in a bare repository, which is
// usually the remote itself, its HeadBranch and nothing else, since all its refs
// are what somebody pushed. Else it is what the remote's HEAD names, then the
// remote's and origin's branch of the usual name, then a local one. The usual
// names are what init.defaultBranch says, main and master. An empty remote means
// origin; the zero Branch means that none was found.
func (r *Repo) DefaultBranch(ctx context.Context, remote string) (Branch, error) {
	if r.Bare {
		return r.HeadBranch(ctx)
	}
	names, err := r.usualNames(ctx)
	if err != nil {
		return Branch{}, err
	}
	candidates := DefaultBranches(remote, names)
	refs, err := r.refs(ctx, candidates...)
	if err != nil {
		return Branch{}, r.failure("cannot look up the default branch", err)
	}
	for _, name := range candidates {
		if branch, ok := refs[name]; ok && !PosesAsHead(name, branch.Ref) {
			return branch, nil
		}
	}
	return Branch{}, nil
}

// PosesAsHead reports whether a ref has the name of a remote's HEAD and names no
// branch, as that does: such a ref is a branch "HEAD" that somebody pushed there
// and that was fetched.
func PosesAsHead(name, leadsTo string) bool {
	return strings.HasPrefix(name, "refs/remotes/") && strings.HasSuffix(name, "/HEAD") && leadsTo == name
}

func (r *Repo) usualNames(ctx context.Context) ([]string, error) {
	out, err := r.output(ctx, nil, "config", "-z", "--get", "init.defaultBranch")
	if err != nil && !exitedWith(err, 1) { // 1: not set
		return nil, r.failure("cannot read init.defaultBranch", err)
	}
	return UsualNames(strings.TrimSuffix(string(out), "\x00")), nil
}

// UsualNames are the names that a default branch usually has, where
// init.defaultBranch is as configured or, if that is empty, not set.
func UsualNames(configured string) []string {
	names := []string{"main", "master"}
	if isRemoteName(configured) && !slices.Contains(names, configured) {
		names = append([]string{configured}, names...)
	}
	return names
}

// DefaultBranches are the refs at which the default branch is looked for, in
// order, in a repository that is not bare. The remote that is asked for comes
// first in every respect: in a fork's clone, origin is the fork, and its policy
// is not to be trusted for the upstream. names are the usual names; an empty
// remote means origin.
func DefaultBranches(remote string, names []string) []string {
	var remotes, refs []string
	if isRemoteName(remote) && remote != "origin" {
		remotes = append(remotes, remote)
	}
	remotes = append(remotes, "origin")
	for _, remote := range remotes {
		refs = append(refs, "refs/remotes/"+remote+"/HEAD")
		for _, name := range names {
			refs = append(refs, "refs/remotes/"+remote+"/"+name)
		}
	}
	for _, name := range names {
		refs = append(refs, "refs/heads/"+name)
	}
	return refs
}

// isRemoteName reports whether s can be a part of a ref's name: a remote may
// also be given as a URL, which cannot.
func isRemoteName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " ~^:?*[\\\x00\n\t")
}

// refs looks refs up by their full names. One that does not exist, or names
// another that does not, is not in the answer; a symbolic one is answered with
// the ref that it names. A damaged ref is an error.
func (r *Repo) refs(ctx context.Context, names ...string) (map[string]Branch, error) {
	out, err := r.forEachRef(ctx, append([]string{"--format=%(refname) %(objectname) %(symref)"}, names...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]Branch{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 || !r.format.valid(f[1]) {
			return nil, fmt.Errorf("git for-each-ref printed %q", Printable(line))
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
	var stdout bytes.Buffer
	var stderr excerpt
	args = append([]string{"for-each-ref"}, args...)
	cmd := r.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := commandFailure(ctx, args, cmd.Run(), &stderr)
	if said := stderr.String(); err == nil && strings.Contains(said, "broken ref") {
		err = &commandError{name: args[0], stderr: said}
	}
	return stdout.String(), err
}
