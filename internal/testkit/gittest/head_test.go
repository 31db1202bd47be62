package gittest_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Head agrees with git, wherever HEAD is stored.
func TestHead(t *testing.T) {
	compare := func(r *gittest.Repo) {
		t.Helper()
		want, err := r.Try("rev-parse", "-q", "--verify", "HEAD")
		if err != nil {
			want = ""
		}
		got, err := gittest.Head(r.Dir)
		if err != nil || got+"\n" != want && got != want {
			t.Errorf("%s: %q, %v; git says %q", r.Dir, got, err, want)
		}
	}
	r := gittest.New(t)
	compare(r)
	r.CommitFile("sub/a", "1")
	compare(r)
	compare(r.In("sub"))
	tree := r.Worktree("side")
	tree.CommitFile("a", "2")
	compare(tree)
	r.Git("pack-refs", "--all")
	compare(r)
	compare(tree)
	r.Git("checkout", "-q", "--detach")
	compare(r)
	compare(r.Clone("--bare"))
	if _, err := gittest.Head(t.TempDir()); err == nil {
		t.Error("there is a HEAD where there is no repository")
	}
}
