package githistory_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestAll lists every path, whatever the current directory.
func TestAll(t *testing.T) {
	gittest.Long(t)
	eachReader(t, func(t *testing.T, rd reader) {
		t.Parallel()
		r := gittest.New(t)
		r.Write(".small/x", "1")
		r.Write("code/a", "1")
		r.Write("code/link", "1")
		a := r.Commit("a")
		r.Write("code/a", "2")
		r.Write("new \"file\"", "1")
		r.Git("rm", "-q", "code/link")
		b := r.Commit("b")
		want := []string{"code/a 100644:1 100644:2", "code/link 100644:1 -", "new \"file\" - 100644:1"}
		root := []string{".small/x - 100644:1", "code/a - 100644:1", "code/link - 100644:1"}
		for _, where := range []*gittest.Repo{r, r.In(r.Path("code"))} {
			repo := rd.open(t, where)
			difference := func(e history.Edge) []string {
				t.Helper()
				got, err := repo.Diff(t.Context(), []history.Edge{e}, history.Filter{All: true})
				if err != nil {
					t.Fatal(err)
				}
				return shown(t, repo, got[0])
			}
			wantEqual(t, want, difference(history.Edge{Parent: a, Child: b}))
			wantEqual(t, root, difference(history.Edge{Child: a}))
			wantEqual(t, []string{}, difference(history.Edge{Parent: b, Child: history.Index}))
			wantEqual(t, want, difference(history.Edge{Parent: a, Child: history.Index}))
			for revision, want := range map[string][]string{
				a: {".small/x", "code/a", "code/link"}, b: {".small/x", "code/a", "new \"file\""}, history.Index: {".small/x", "code/a", "new \"file\""},
			} {
				all, err := repo.List(t.Context(), revision, history.Filter{All: true})
				if err != nil {
					t.Fatal(err)
				}
				wantEqual(t, want, pathsOf(all))
			}
		}
	})
}

// TestCommitsAndMessages: a range is listed, and messages in any encoding are read as UTF-8.
func TestCommitsAndMessages(t *testing.T) {
	gittest.Long(t)
	eachReader(t, func(t *testing.T, rd reader) {
		t.Parallel()
		r := gittest.New(t)
		a := r.CommitFile("f", "1")
		r.Git("commit", "-q", "--allow-empty", "-m", "b", "-m", "Lane: fast\nlane: deep")
		b := r.ID("HEAD")
		r.Git("commit", "-q", "--allow-empty", "-m", "Lane: fast")
		c := r.ID("HEAD")
		r.Git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "\xfc", "-m", "Lane: \xfc")
		d := r.ID("HEAD")
		repo := rd.open(t, r)
		got, err := repo.Commits(t.Context(), []string{d}, []string{a})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, []history.Commit{
			{ID: b, Parents: []string{a}},
			{ID: c, Parents: []string{b}},
			{ID: d, Parents: []string{c}},
		}, history.InOrder(got))
		for id, want := range map[string]string{b: "b\n\nLane: fast\nlane: deep\n", d: "\ufffd\n\nLane: \ufffd\n"} {
			if s, err := repo.Signature(t.Context(), id); err != nil || s.Message != want {
				t.Errorf("%q, %v; want %q", s.Message, err, want)
			}
		}
		got, err = repo.Commits(t.Context(), []string{b}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, []history.Commit{{ID: a, Parents: []string{}}, {ID: b, Parents: []string{a}}}, history.InOrder(got))
	})
}
