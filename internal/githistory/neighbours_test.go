package githistory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
)

// neighbours asks a reader in a repository.
func neighbours(t *testing.T, rd reader, r *gittest.Repo) []githistory.Neighbour {
	t.Helper()
	got, err := rd.open(t, r).Neighbours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNeighboursAreOtherWorkTrees(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		if got := neighbours(t, rd, r); len(got) != 0 {
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
			githistory.SortNeighbours(list)
			return list
		}
		wantEqual(t, sorted(sideTree, detachedTree), neighbours(t, rd, r))
		wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, rd, side))
		wantEqual(t, sorted(mainTree, sideTree), neighbours(t, rd, detached))
		wantEqual(t, sorted(mainTree, sideTree, detachedTree), neighbours(t, rd, unborn))
		// As a hook in a linked work tree is called.
		gitDir := side.Git("rev-parse", "--absolute-git-dir")
		wantEqual(t, sorted(mainTree, detachedTree), neighbours(t, rd, side.With("GIT_DIR="+gitDir)))
	})
}

func TestNeighboursOfABareRepository(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		one := r.CommitFile("f", "1")
		bare := r.Clone("--bare")
		a, b := bare.Worktree("a"), bare.Worktree("b")
		wantEqual(t, []githistory.Neighbour{{Ref: "refs/heads/b", Worktree: b.Dir, ID: one}}, neighbours(t, rd, a))
	})
}

func TestNeighboursUpstream(t *testing.T) {
	type setup struct {
		name    string
		do      func(r *gittest.Repo)
		want    string // the ref, or empty
		refused string // what the embedded reader says, where git alone serves it
	}
	for _, s := range []setup{
		{"a clone's", func(*gittest.Repo) {}, "refs/remotes/origin/main", ""},
		{"packed", func(r *gittest.Repo) { r.Git("pack-refs", "--all") }, "refs/remotes/origin/main", ""},
		{"another name", func(r *gittest.Repo) {
			r.Git("switch", "-q", "-c", "topic/one", "--no-track")
			r.Git("branch", "-q", "-u", "origin/main")
		}, "refs/remotes/origin/main", ""},
		{"a local branch", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Git("branch", "-q", "-u", "base")
		}, "refs/heads/base", ""},
		{"none", func(r *gittest.Repo) { r.Git("branch", "--unset-upstream") }, "", ""},
		{"not fetched", func(r *gittest.Repo) { r.Git("config", "branch.main.merge", "refs/heads/gone") }, "", ""},
		{"a detached HEAD", func(r *gittest.Repo) { r.Git("switch", "-q", "--detach") }, "", ""},
		{"an unborn branch", func(r *gittest.Repo) { r.Git("switch", "-q", "--orphan", "new") }, "", ""},
		{"a URL", func(r *gittest.Repo) { r.Git("config", "branch.main.remote", r.URL()) }, "", "what is fetched from"},
		{"a renamed remote", func(r *gittest.Repo) { r.Git("remote", "rename", "origin", "up/stream") }, "refs/remotes/up/stream/main", ""},
		{"one refspec for each", func(r *gittest.Repo) {
			r.Git("config", "--replace-all", "remote.origin.fetch", "+refs/heads/x:refs/remotes/origin/x")
			r.Git("config", "--add", "remote.origin.fetch", "refs/heads/main:refs/remotes/origin/main")
		}, "refs/remotes/origin/main", "what is fetched from origin"},
		{"a pattern in the middle", func(r *gittest.Repo) {
			r.Git("config", "--replace-all", "remote.origin.fetch", "+refs/heads/m*n:refs/elsewhere/a*b")
			r.Git("update-ref", "refs/elsewhere/aaib", "HEAD")
		}, "refs/elsewhere/aaib", "what is fetched from origin"},
		{"nothing is fetched", func(r *gittest.Repo) { r.Git("config", "--unset-all", "remote.origin.fetch") }, "", "what is fetched from origin"},
		{"an included file", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Write(".git/more", "[branch \"main\"]\n\tremote = .\n")
			r.Git("config", "branch.main.merge", "refs/heads/base")
			r.Git("config", "include.path", "more")
		}, "refs/heads/base", "includes other files"},
		{"on a condition", func(r *gittest.Repo) {
			r.Git("branch", "-q", "base")
			r.Write(".git/more", "[branch \"main\"]\n\tremote = .\n")
			r.Git("config", "branch.main.merge", "refs/heads/base")
			r.Git("config", "includeIf.onbranch:main.path", "more")
		}, "refs/heads/base", "includes other files"},
	} {
		t.Run(s.name, func(t *testing.T) {
			eachReader(t, func(t *testing.T, rd reader) {
				from := gittest.New(t)
				from.CommitFile("f", "1")
				r := from.Clone()
				s.do(r)
				if s.refused != "" && rd.name == "go-git" {
					_, err := rd.open(t, r).Neighbours(t.Context())
					wantUnserved(t, err, s.refused)
					return
				}
				var want []githistory.Neighbour
				if s.want != "" {
					want = []githistory.Neighbour{{Ref: s.want, ID: r.ID(s.want)}}
				}
				wantEqual(t, want, neighbours(t, rd, r))
			})
		})
	}
}

// TestNeighboursInASubmodule: a submodule's git directory is not beside its work
// tree.
func TestNeighboursInASubmodule(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		sub := gittest.New(t)
		sub.CommitFile("f", "1")
		r := gittest.New(t)
		r.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
		in := r.In(filepath.Join(r.Dir, "sub"))
		for _, n := range neighbours(t, rd, in) {
			if n.Worktree != "" {
				t.Errorf("there is no other work tree, but %v", n)
			}
		}
	})
}
