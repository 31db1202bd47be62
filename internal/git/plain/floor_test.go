package plain

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A question about two branches reads history back to their fork, and no further. TestReadersAgree checks that the answers match git's,
// whatever the dates.
func TestHistoryBelowTheFloorIsNotRead(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	r := versions(t)
	fork := r.ID("HEAD~3")
	r.Git("switch", "-q", "-c", "side", fork)
	r.CommitFile("other", "1")
	side := r.ID("HEAD")
	r.Git("switch", "-q", "-")
	main := r.ID("HEAD")
	for what, ask := range map[string]func(*Repo) (any, error){
		"[3]": func(repo *Repo) (any, error) {
			commits, err := repo.Commits(t.Context(), []string{main}, []string{side})
			return []int{len(commits)}, err
		},
		fmt.Sprint([]string{fork}): func(repo *Repo) (any, error) { return repo.MergeBases(t.Context(), main, side) },
		"false":                    func(repo *Repo) (any, error) { return repo.IsAncestor(t.Context(), side, main) },
	} {
		repo := open(t, r)
		got, err := ask(repo)
		if err != nil || fmt.Sprint(got) != what {
			t.Errorf("%v, %v, where %s was expected", got, err, what)
		}
		if len(repo.commits) != 5 {
			t.Errorf("%s: %d commits were read, of 5 that count", what, len(repo.commits))
		}
	}
	r.Git("switch", "-q", "--orphan", "alone")
	r.Commit("a second beginning")
	repo := open(t, r)
	if bases, err := repo.MergeBases(t.Context(), main, r.ID("HEAD")); err != nil || len(bases) > 0 {
		t.Errorf("%v, %v", bases, err)
	}
}
