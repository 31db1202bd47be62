package githistory

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/git/run"
)

// Branch is a ref and the commit at its tip.
type Branch struct{ Ref, ID string }

// Missing reports whether HEAD names a branch that does not exist, while others do.
func (b Branch) Missing() bool { return b.Ref != "" && b.ID == "" }

// Refs is a repository's interface for refs.
type Refs interface {
	Where() Place
	// Head is HEAD's commit, empty on a branch without commits.
	Head(ctx context.Context) (string, error)
	// CurrentBranch is the full name of the branch that HEAD names, empty for a
	// detached HEAD.
	CurrentBranch(ctx context.Context) (string, error)
	// Refs looks up refs by their full names. A ref that does not exist, or points to one that does not, is not in the result; for a
	// symbolic ref the result is the ref that it points to. A damaged ref is an error.
	Refs(ctx context.Context, names ...string) (map[string]Branch, error)
	// Tips are the commits at the tips of all refs below some prefixes ("refs/remotes/origin/"), through tags; without a prefix, of all
	// refs. Refs that lead to no commit are left out.
	Tips(ctx context.Context, prefixes ...string) ([]string, error)
	// Branches are the branches below a prefix ("refs/heads/"): the commits at their tips, by full name.
	Branches(ctx context.Context, prefix string) (map[string]string, error)
	// InitBranch is the configured init.defaultBranch; empty if it is not set.
	InitBranch(ctx context.Context) (string, error)
}

// HeadBranch is what the repository's own HEAD names: a branch, or HEAD itself if detached. The zero Branch means that there is no branch
// yet.
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

// DefaultBranch looks up the default branch. In a bare repository, which is usually the remote itself, it is its HeadBranch and nothing
// else, since anybody who may push can make the other refs. Otherwise it is what the remote's HEAD names, then the remote's and origin's
// branch of a usual name, then a local one. The usual names are init.defaultBranch's value, main and master. An empty remote means origin;
// the zero Branch means that none was found.
func DefaultBranch(ctx context.Context, r Refs, remote string) (Branch, error) {
	if r.Where().Bare {
		return HeadBranch(ctx, r)
	}
	remotes := []string{"origin"}
	if IsRemoteName(remote) && remote != "origin" {
		// In a fork's clone origin is the fork: its policy does not count upstream.
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

// firstBranch is the branch to which the first existing ref of some leads. If the ref of a remote's HEAD is not symbolic, it is a branch
// called "HEAD" that somebody pushed, and is skipped.
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

// IsRemoteName reports whether s can be part of a ref's name: a remote may also be given as a URL or a path, which cannot.
func IsRemoteName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " ~^:?*[\\\x00\n\t") && !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".")
}

// CurrentBranch is the full name of the branch that HEAD names, empty for a
// detached HEAD.
func (r *Repo) CurrentBranch(ctx context.Context) (string, error) {
	out, err := r.git.Output(ctx, nil, "symbolic-ref", "-q", "HEAD")
	if gitcmd.ExitedWith(err, 1) { // detached
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), r.failure("cannot read HEAD", err)
}
