package githistory_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestCancelledContext(t *testing.T) { eachReader(t, testCancelledContext) }

func testCancelledContext(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	id := r.CommitFile(".small/x", "1")
	object := r.ID("HEAD:.small/x")
	repo := rd.open(t, r)
	ctx := cancelled(t)

	_, err := repo.Commits(ctx, []string{id}, nil)
	wantCancelled(t, err)
	_, err = repo.Diff(ctx, []history.Edge{{Child: id}, {Parent: id, Child: history.Index}}, judged)
	wantCancelled(t, err)
	_, err = repo.List(ctx, id, history.Workspaces())
	wantCancelled(t, err)
	_, err = repo.List(ctx, history.Index, history.Workspaces())
	wantCancelled(t, err)
	_, err = repo.Blob(ctx, object, 10)
	wantCancelled(t, err)
	_, err = repo.Resolve(ctx, "main")
	wantCancelled(t, err)
	_, err = repo.MergeBases(ctx, id, id)
	wantCancelled(t, err)
	_, err = githistory.DefaultBranch(ctx, repo, "")
	wantCancelled(t, err)

	// The next call is served.
	if got := content(t, repo, object); got != "1" {
		t.Errorf("the blob is %q", got)
	}
}
