package githistory

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Branch is a ref, by its full name, and the object to which it points.
type Branch struct{ Ref, ID string }

// Missing reports whether the branch does not exist: HEAD names it (see HeadBranch), and other branches exist.
func (b Branch) Missing() bool { return b.Ref != "" && b.ID == "" }

// Refs reads the refs of a repository.
type Refs interface {
	Where() Place
	// Head returns the id of HEAD's commit, empty on a branch without commits.
	Head(ctx context.Context) (string, error)
	// CurrentBranch returns the full name of the branch that HEAD names, empty for a detached HEAD.
	CurrentBranch(ctx context.Context) (string, error)
	// Refs looks up the ref that each prefix names in full, and all refs below it: "refs/heads" stands for all branches. The result has the refs
	// by their full names, but none that points to a ref that does not exist. For a symbolic ref, Branch.Ref is the ref to which it points. A
	// damaged ref is an error.
	Refs(ctx context.Context, prefixes ...string) (map[string]Branch, error)
	// Tips lists the commits at the tips of all refs below the prefixes ("refs/remotes/origin/"), or of all refs if no prefix is given. It
	// follows tags, and leaves out refs that lead to no commit.
	Tips(ctx context.Context, prefixes ...string) ([]string, error)
	// InitBranch returns the configured init.defaultBranch; empty if it is not set.
	InitBranch(ctx context.Context) (string, error)
}

// Branches returns the commit at the tip of each branch below a prefix ("refs/heads/"), by the branch's full name. It leaves out symbolic refs
// (refs/remotes/origin/HEAD).
func Branches(ctx context.Context, r Refs, prefix string) (map[string]string, error) {
	refs, err := r.Refs(ctx, prefix)
	tips := map[string]string{}
	for name, branch := range refs {
		if branch.Ref == name {
			tips[name] = branch.ID
		}
	}
	return tips, err
}

// HeadBranch returns the branch that the repository's own HEAD names. For a detached HEAD, Ref is "HEAD". If HEAD names a branch that does not
// exist, ID is empty. If no other branch exists either, it returns the zero Branch.
func HeadBranch(ctx context.Context, r Refs) (Branch, error) {
	name, err := r.CurrentBranch(ctx)
	if err != nil {
		return Branch{}, err
	}
	if name == "" {
		id, err := r.Head(ctx)
		return Branch{Ref: "HEAD", ID: id}, err
	}
	refs, err := r.Refs(ctx, name)
	if branch, ok := refs[name]; ok || err != nil {
		return branch, err
	}
	others, err := r.Tips(ctx, "refs/heads/")
	if err != nil || len(others) == 0 {
		return Branch{}, err
	}
	return Branch{Ref: name}, nil
}

// DefaultBranch looks up the default branch. An empty remote means origin; the zero Branch means that none was found.
//
// In a bare repository, which is usually the remote itself, it returns HeadBranch, because anybody who may push can create the other refs.
// Elsewhere it returns the first that exists of: the branch that the remote's HEAD names, the remote's branch with a usual name, the same two
// for origin, and a local branch with a usual name. The usual names are the value of init.defaultBranch, main and master.
func DefaultBranch(ctx context.Context, r Refs, remote string) (Branch, error) {
	if r.Where().Bare {
		return HeadBranch(ctx, r)
	}
	remotes := []string{"origin"}
	if IsRemoteName(remote) && remote != "origin" {
		// In a fork's clone origin is the fork, whose configuration does not apply upstream.
		remotes = []string{remote, "origin"}
	}
	branch, err := firstBranch(ctx, r, "refs/remotes/"+remotes[0]+"/HEAD")
	if err != nil || branch.ID != "" {
		return branch, err
	}
	configured, err := r.InitBranch(ctx)
	if err != nil {
		return Branch{}, err
	}
	usual := []string{"main", "master"}
	if IsRemoteName(configured) && !slices.Contains(usual, configured) {
		usual = append([]string{configured}, usual...)
	}
	var names []string
	for _, remote := range remotes {
		for _, name := range append([]string{"HEAD"}, usual...) {
			names = append(names, "refs/remotes/"+remote+"/"+name)
		}
	}
	for _, name := range usual {
		names = append(names, "refs/heads/"+name)
	}
	return firstBranch(ctx, r, names...)
}

// firstBranch looks up refs and returns the branch to which the first existing one leads. It skips a remote's HEAD that is not symbolic: somebody
// has pushed a branch with the name "HEAD".
func firstBranch(ctx context.Context, r Refs, names ...string) (Branch, error) {
	refs, err := r.Refs(ctx, names...)
	for _, name := range names {
		pushed := strings.HasSuffix(name, "/HEAD") && refs[name].Ref == name
		if branch, ok := refs[name]; ok && !pushed {
			return branch, err
		}
	}
	return Branch{}, err
}

// Unpublished lists the commits of head's history that no remote-tracking branch has.
func Unpublished(ctx context.Context, r interface {
	Refs
	history.History
}, head string) ([]history.Commit, error) {
	tips, err := r.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	return r.Commits(ctx, []string{head}, tips)
}

// IsRemoteName reports whether s can be a remote's name, and so a part of a ref's name. A URL or a path that stands for a remote cannot.
func IsRemoteName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " ~^:?*[\\\x00\n\t") && !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".")
}

// CurrentBranch returns the full name of the branch that HEAD names, empty for a detached HEAD.
func (r *Repo) CurrentBranch(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "symbolic-ref", "-q", "HEAD")
	if gitcmd.ExitedWith(err, 1) { // detached
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), r.toFailure("cannot read HEAD", err)
}
