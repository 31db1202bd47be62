package githistory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
)

// neighbours asks git in a repository. The embedded reader refuses it with these
// words; without any it has the same answer.
func neighbours(t *testing.T, r *gittest.Repo, refused ...string) []githistory.Neighbour {
	t.Helper()
	got, err := readers[0].open(t, r).Neighbours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := readers[1].open(t, r).Neighbours(t.Context())
	if len(refused) > 0 {
		wantUnserved(t, err, refused...)
		return got
	}
	if err != nil {
		t.Error(err)
	}
	wantEqual(t, got, own)
	return got
}

func TestNeighboursAreOtherWorkTrees(t *testing.T) {
	const refused = "it has several work trees"
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
	if err := os.RemoveAll(deleted.Dir); err != nil {
		t.Fatal(err)
	}
	r.Git("pack-refs", "--all")

	sideTree := githistory.Neighbour{Ref: "refs/heads/side", Worktree: side.Dir, ID: two}
	detachedTree := githistory.Neighbour{Worktree: detached.Dir, ID: three}
	mainTree := githistory.Neighbour{Ref: "refs/heads/main", Worktree: r.Dir, ID: one}
	sorted := func(list ...githistory.Neighbour) []githistory.Neighbour {
		slices.SortFunc(list, func(a, b githistory.Neighbour) int { return strings.Compare(a.Worktree, b.Worktree) })
		return list
	}
	wantEqual(t, sorted(sideTree, detachedTree), neighbours(t, r, refused))
	wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, side, refused))
	wantEqual(t, sorted(mainTree, sideTree), neighbours(t, detached, refused))
	wantEqual(t, sorted(mainTree, sideTree, detachedTree), neighbours(t, unborn, refused))
	// As a hook in a linked work tree is called.
	gitDir := side.Git("rev-parse", "--absolute-git-dir")
	wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, side.With("GIT_DIR="+gitDir), refused))
}

func TestNeighboursOfABareRepository(t *testing.T) {
	r := gittest.New(t)
	one := r.CommitFile("f", "1")
	bare := r.Clone("--bare")
	a, b := bare.Worktree("a"), bare.Worktree("b")
	wantEqual(t, []githistory.Neighbour{{Ref: "refs/heads/b", Worktree: b.Dir, ID: one}}, neighbours(t, a, "it has several work trees"))
}

func TestNeighboursUpstream(t *testing.T) {
	const upstream = "the branch main has an upstream"
	for _, s := range []struct {
		name    string
		do      func(r *gittest.Repo)
		want    string // the ref, or empty
		refused []string
	}{
		{"a clone's", func(*gittest.Repo) {}, "refs/remotes/origin/main", []string{upstream}},
		{"packed", func(r *gittest.Repo) { r.Git("pack-refs", "--all") }, "refs/remotes/origin/main", []string{upstream}},
		{"another name", func(r *gittest.Repo) {
			r.Git("switch", "-q", "-c", "topic/one", "--no-track")
			r.Git("branch", "-q", "-u", "origin/main")
		}, "refs/remotes/origin/main", []string{"the branch topic/one has an upstream"}},
		{"a local branch", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Git("branch", "-q", "-u", "base")
		}, "refs/heads/base", []string{upstream}},
		{"none", func(r *gittest.Repo) { r.Git("branch", "--unset-upstream") }, "", nil},
		{"not fetched", func(r *gittest.Repo) { r.Git("config", "branch.main.merge", "refs/heads/gone") }, "", []string{upstream}},
		{"a detached HEAD", func(r *gittest.Repo) { r.Git("switch", "-q", "--detach") }, "", nil},
		{"an unborn branch", func(r *gittest.Repo) { r.Git("switch", "-q", "--orphan", "new") }, "", nil},
		{"a URL", func(r *gittest.Repo) { r.Git("config", "branch.main.remote", r.URL()) }, "", []string{upstream}},
		{"a renamed remote", func(r *gittest.Repo) { r.Git("remote", "rename", "origin", "up/stream") }, "refs/remotes/up/stream/main", []string{upstream}},
		{"an included file", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Git("branch", "--unset-upstream")
			r.Write(".git/more", "[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/base\n")
			r.Git("config", "includeIf.onbranch:main.path", "more")
		}, "refs/heads/base", []string{".git/config includes other files, which may set branch.main.merge"}},
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
			wantEqual(t, want, neighbours(t, r, s.refused...))
		})
	}
}

// TestNeighboursInASubmodule: a submodule's git directory is not beside its work
// tree.
func TestNeighboursInASubmodule(t *testing.T) {
	sub := gittest.New(t)
	sub.CommitFile("f", "1")
	r := gittest.New(t)
	r.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	in := r.In(filepath.Join(r.Dir, "sub"))
	for _, n := range neighbours(t, in, "the branch main has an upstream") {
		if n.Worktree != "" {
			t.Errorf("there is no other work tree, but %v", n)
		}
	}
}
