package githistory_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestTips lists commits, follows tags and leaves out refs that lead to none.
func TestTips(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testTips)
}

func testTips(t *testing.T, rd reader) {
	ctx := context.Background()
	dir := gittest.New(t)
	dir.Write("a", "1")
	first := dir.Commit("one")
	dir.Git("tag", "-a", "-m", "tagged", "v1")
	dir.Git("checkout", "-q", "--detach")
	dir.Write("a", "3")
	nested := dir.Commit("three")
	dir.Git("tag", "-a", "-m", "tagged", "v2")
	dir.Git("tag", "-a", "-m", "a tag of a tag", "nested", "v2")
	dir.Git("tag", "-d", "v2")
	dir.Git("checkout", "-q", "main")
	dir.Write("a", "2")
	second := dir.Commit("two")
	blob := strings.TrimSpace(dir.Git("rev-parse", "HEAD:a"))
	dir.Git("tag", "blob", blob)
	dir.Git("update-ref", "refs/remotes/up/main", first)

	repo, err := rd.try(ctx, dir.Dir, dir.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	want := []string{first, second, nested}
	slices.Sort(want)
	if got, err := repo.Tips(ctx); err != nil || !slices.Equal(got, want) {
		t.Errorf("all tips: %v, %v; want %v", got, err, want)
	}
	if got, err := repo.Tips(ctx, "refs/remotes/up/"); err != nil || !slices.Equal(got, []string{first}) {
		t.Errorf("the remote's tips: %v, %v; want %v", got, err, first)
	}

	tag := strings.TrimSpace(dir.Git("rev-parse", "v1"))
	for _, c := range []struct {
		id, commit string
		here       bool
	}{{first, first, true}, {tag, first, true}, {blob, "", true}, {strings.Repeat("1", len(first)), "", false}} {
		if commit, here, err := repo.Peel(ctx, c.id); err != nil || commit != c.commit || here != c.here {
			t.Errorf("Peel(%s) = %q, %v, %v", c.id, commit, here, err)
		}
	}
	lost := dir.GitInput("object "+strings.Repeat("1", len(first))+"\ntype commit\ntag x\ntagger t <t> 1 +0000\n\nx\n", "hash-object", "-t", "tag", "-w", "--literally", "--stdin")
	if commit, _, err := repo.Peel(ctx, lost); err == nil {
		t.Errorf("a tag of nothing: %q", commit)
	}
}

// TestTipsOfADamagedRef: it is an error, not one tip less.
func TestTipsOfADamagedRef(t *testing.T) { eachReader(t, testTipsOfADamagedRef) }

func testTipsOfADamagedRef(t *testing.T, rd reader) {
	ctx := context.Background()
	dir := gittest.New(t)
	dir.Write("a", "1")
	dir.Commit("one")
	dir.Write(".git/refs/heads/broken", "not an id\n")
	repo, err := rd.try(ctx, dir.Dir, dir.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	if tips, err := repo.Tips(ctx); err == nil {
		t.Errorf("tips %v of a repository with a damaged ref", tips)
	}
}
