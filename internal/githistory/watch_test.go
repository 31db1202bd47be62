package githistory_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/policy"
)

// TestWatch: what is looked at quickly lets nothing pass that a pattern matches,
// and no directory that can hold such.
func TestWatch(t *testing.T) {
	patterns := []string{
		"**/workflows/*/workflow.md", "jobs/*.json", "jobs/**", "**", "*", "a/{b,c}/d", "a/[bc]/d", `a\*b/c`, "plain/path.md",
		"a/**/z", "**/x", "{jobs,a}/x", "a?c", "jobs",
	}
	paths := []string{
		"workflows/job/workflow.md", "a/workflows/b/workflow.md", "workflow.md", "workflows/workflow.md", "jobs/1.json", "jobs/a/1.json",
		"jobs", "a/b/d", "a/c/d", "a/z", "a/b/c/z", "a*b/c", "aab/c", "plain/path.md", "plain/path.md/x", "x", "jobs/x", "abc", "",
	}
	for _, pattern := range patterns {
		w := githistory.NewWatch([]string{"nothing", pattern})
		for _, path := range paths {
			want := policy.Matches([]string{pattern}, path)
			if got := w.Matches(path); got != want {
				t.Errorf("%q matches %q: %t", pattern, path, got)
			}
			for i := range path {
				if want && path[i] == '/' && !w.Below(path[:i]) {
					t.Errorf("%q: nothing below %q, but %q", pattern, path[:i], path)
				}
			}
		}
	}
	for _, path := range []string{"a*b", "x[1].json", `back\slash`, "{a,b}", "q?", "plain"} {
		w := githistory.NewWatch([]string{policy.LiteralPattern(path)})
		if !w.Matches(path) {
			t.Errorf("%q does not match itself", path)
		}
	}
}

// TestWatched: what is watched is reported beside workspaces; by default nothing is.
func TestWatched(t *testing.T) { eachReader(t, testWatched) }

func testWatched(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("harness/workflows/job/workflow.md", "1")
	r.Write("harness/workflows/job/notes.md", "1")
	r.Write("jobs/1.json", "{}")
	r.Write("jobs/old/2.json", "{}")
	a := r.Commit("a")
	repo := rd.open(t, r)
	edge := history.Edge{Child: a}
	wantEqual(t, [][]string{{}}, changes(t, repo, edge))
	repo.Watch([]string{"**/workflows/*/workflow.md"})
	wantEqual(t, [][]string{{"harness/workflows/job/workflow.md - 100644:1"}}, changes(t, repo, edge))
	repo.Watch([]string{"jobs/*.json"})
	wantEqual(t, [][]string{{"jobs/1.json - 100644:{}"}}, changes(t, repo, edge))
	repo.Watch(nil)
	wantEqual(t, [][]string{{}}, changes(t, repo, edge))
}
