package githistory_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
)

// TestUntouched is only certain where there is nothing to look at.
func TestUntouched(t *testing.T) {
	ctx := context.Background()
	look := func(repo *gittest.Repo, dir string) bool {
		return githistory.Untouched(ctx, dir, githistory.Options{Environ: repo.Environ()})
	}
	repo := gittest.New(t)
	repo.Write("a", "1")
	repo.Git("add", "-A")
	if look(repo, repo.Dir) {
		t.Error("certain of a repository whose HEAD is unborn")
	}
	repo.Write("p/.small/plan.small.yml", "x: 1\n")
	repo.Commit("one")
	repo.Write("a", "2")
	repo.Git("add", "a")
	if !look(repo, repo.Dir) || !look(repo, filepath.Join(repo.Dir, "p")) {
		t.Error("not certain that another file is none of the gate's business")
	}
	repo.Write("p/.small/plan.small.yml", "x: 2\n")
	if !look(repo, repo.Dir) {
		t.Error("not certain although the change is not staged")
	}
	repo.Git("add", "-A")
	if look(repo, repo.Dir) {
		t.Error("certain although a file of .small is staged")
	}
	repo.Commit("two")
	repo.Write("p/workflows/job/workflow.md", "none")
	repo.Git("add", "-A")
	repo.Git("rm", "-q", "--cached", "a")
	if !look(repo, repo.Dir) || !look(repo, filepath.Join(repo.Dir, "p")) {
		t.Error("not certain although nobody configures workflows")
	}
	repo.Git("reset", "-q", "--hard")
	repo.Write(".small-gate.yml", "version: 1\nworkflows: {jobs: [\"*.json\"]}\n")
	repo.Commit("jobs")
	repo.Write("a", "3")
	repo.Git("add", "a")
	if look(repo, repo.Dir) {
		t.Error("certain although the configuration may name what is staged")
	}
	repo.Write(".small-gate.yml", "version: 1\nstrict: true\n")
	repo.Commit("no jobs")
	repo.Write(".small-gate.yml", "version: 1\n")
	repo.Git("add", "-A")
	if look(repo, repo.Dir) {
		t.Error("certain although the configuration is staged")
	}
	repo.Commit("three")

	tree := repo.Worktree("other")
	if !look(repo, tree.Dir) {
		t.Error("not certain in a linked work tree")
	}
	tree.Write("p/.small/plan.small.yml", "x: 3\n")
	tree.Commit("four")
	repo.Git("merge", "--no-commit", "--no-ff", "-s", "ours", "other")
	if look(repo, repo.Dir) {
		t.Error("certain while a merge that dropped a change is being concluded")
	}
	if look(repo, t.TempDir()) {
		t.Error("certain outside a repository")
	}
}
