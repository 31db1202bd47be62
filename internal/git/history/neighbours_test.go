package githistory_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// neighbours reads them with git, and with the go-git reader if the repository is plain.
func neighbours(t *testing.T, r *gittest.Repo) []githistory.Neighbour {
	t.Helper()
	got, err := readers[0].open(t, r).Neighbours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repo, err := readers[1].try(t.Context(), r.Dir, r.Environ())
	if errors.Is(err, plain.ErrUnserved) {
		t.Logf("asked of git alone: %v", err)
		return got
	}
	own, err := repo.Neighbours(t.Context())
	if err := errors.Join(err, repo.Close()); err != nil {
		t.Error(err)
	}
	wantEqual(t, got, own)
	return got
}

func TestNeighboursAreOtherWorkTrees(t *testing.T) {
	gittest.Long(t)
	r := gittest.New(t)
	if got := neighbours(t, r); len(got) != 0 {
		t.Errorf("before the first commit there is nobody, not %v", got)
	}
	one := r.CommitFile("f", "1")
	r.Git("branch", "abandoned")
	side := r.Worktree("side")
	two := side.CommitFile("f", "2")
	detached := r.Worktree("gone")
	detached.Git("switch", "-q", "--detach")
	detached.Git("branch", "-D", "gone")
	three := detached.CommitFile("f", "3")
	unborn := r.Worktree("unborn")
	unborn.Git("switch", "-q", "--orphan", "nothing")
	deleted := r.Worktree("deleted")
	replaced := r.Worktree("replaced") // by a file
	for _, dir := range []string{deleted.Dir, replaced.Dir} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(replaced.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Git("pack-refs", "--all")
	if err := os.WriteFile(filepath.Join(r.Dir, ".git", "worktrees", ".DS_Store"), nil, 0o600); err != nil { // as file managers do; git passes over it
		t.Fatal(err)
	}

	sideTree := githistory.Neighbour{Ref: "refs/heads/side", Worktree: side.Dir, ID: two}
	detachedTree := githistory.Neighbour{Worktree: detached.Dir, ID: three}
	mainTree := githistory.Neighbour{Ref: "refs/heads/main", Worktree: r.Dir, ID: one}
	sorted := func(list ...githistory.Neighbour) []githistory.Neighbour {
		slices.SortFunc(list, func(a, b githistory.Neighbour) int { return strings.Compare(a.Worktree, b.Worktree) })
		return list
	}
	wantEqual(t, sorted(sideTree, detachedTree), neighbours(t, r))
	wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, side))
	wantEqual(t, sorted(mainTree, sideTree), neighbours(t, detached))
	wantEqual(t, sorted(mainTree, sideTree, detachedTree), neighbours(t, unborn))
	// As for a hook in a linked work tree.
	gitDir := side.Git("rev-parse", "--absolute-git-dir")
	wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, side.With("GIT_DIR="+gitDir)))
}

func TestNeighboursOfABareRepository(t *testing.T) {
	gittest.Long(t)
	r := gittest.New(t)
	one := r.CommitFile("f", "1")
	bare := r.Clone("--bare")
	a, b := bare.Worktree("a"), bare.Worktree("b")
	wantEqual(t, []githistory.Neighbour{{Ref: "refs/heads/b", Worktree: b.Dir, ID: one}}, neighbours(t, a))
}

func TestNeighboursUpstream(t *testing.T) {
	gittest.Long(t)
	for _, s := range []struct {
		name string
		do   func(r *gittest.Repo)
		want string // the ref, or empty
	}{
		{"a clone's", func(*gittest.Repo) {}, "refs/remotes/origin/main"},
		{"packed", func(r *gittest.Repo) { r.Git("pack-refs", "--all") }, "refs/remotes/origin/main"},
		{"another name", func(r *gittest.Repo) {
			r.Git("switch", "-q", "-c", "topic/one", "--no-track")
			r.Git("branch", "-q", "-u", "origin/main")
		}, "refs/remotes/origin/main"},
		{"a local branch", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Git("branch", "-q", "-u", "base")
		}, "refs/heads/base"},
		{"none", func(r *gittest.Repo) { r.Git("branch", "--unset-upstream") }, ""},
		{"not fetched", func(r *gittest.Repo) { r.Git("config", "branch.main.merge", "refs/heads/gone") }, ""},
		{"a detached HEAD", func(r *gittest.Repo) { r.Git("switch", "-q", "--detach") }, ""},
		{"an unborn branch", func(r *gittest.Repo) { r.Git("switch", "-q", "--orphan", "new") }, ""},
		{"a URL", func(r *gittest.Repo) { r.Git("config", "branch.main.remote", r.URL()) }, ""},
		{"a renamed remote", func(r *gittest.Repo) { r.Git("remote", "rename", "origin", "up/stream") }, "refs/remotes/up/stream/main"},
		{"an included file", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Git("branch", "--unset-upstream")
			r.Write(".git/more", "[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/base\n")
			r.Git("config", "includeIf.onbranch:main.path", "more")
		}, "refs/heads/base"},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			from := gittest.New(t)
			from.CommitFile("f", "1")
			r := from.Clone()
			s.do(r)
			var want []githistory.Neighbour
			if s.want != "" {
				want = []githistory.Neighbour{{Ref: s.want, ID: r.ID(s.want)}}
			}
			wantEqual(t, want, neighbours(t, r))
		})
	}
}

// TestNeighboursInASubmodule: a submodule's git directory is not beside its work
// tree.
func TestNeighboursInASubmodule(t *testing.T) {
	gittest.Long(t)
	sub := gittest.New(t)
	sub.CommitFile("f", "1")
	r := gittest.New(t)
	r.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	in := r.In(filepath.Join(r.Dir, "sub"))
	for _, n := range neighbours(t, in) {
		if n.Worktree != "" {
			t.Errorf("there is no other work tree, but %v", n)
		}
	}
}
