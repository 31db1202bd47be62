package githistory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestFilterPatterns: the quick checks miss no path that a pattern matches, and no directory that can have one.
func TestFilterPatterns(t *testing.T) {
	patterns := []string{
		"**/workflows/*/workflow.md", "jobs/*.json", "jobs/**", "**", "*", "a/{b,c}/d", "a/[bc]/d", `a\*b/c`, "plain/path.md",
		"a/**/z", "**/x", "{jobs,a}/x", "a?c", "jobs",
	}
	paths := []string{
		"workflows/job/workflow.md", "a/workflows/b/workflow.md", "workflow.md", "workflows/workflow.md", "jobs/1.json", "jobs/a/1.json",
		"jobs", "a/b/d", "a/c/d", "a/z", "a/b/c/z", "a*b/c", "aab/c", "plain/path.md", "plain/path.md/x", "x", "jobs/x", "abc", "",
	}
	for _, pattern := range patterns {
		f := githistory.NewFilter(history.Matching("nothing", pattern))
		for _, path := range paths {
			want := policy.Matches([]string{pattern}, path)
			if got := f.Matches(path); got != want {
				t.Errorf("%q matches %q: %t", pattern, path, got)
			}
			for i := range path {
				if want && path[i] == '/' && !f.MayContain(path[:i]) {
					t.Errorf("%q: nothing below %q, but %q", pattern, path[:i], path)
				}
			}
		}
	}
	for _, pattern := range append(patterns, "[^A-Z]*/x", "[!M-Z]/b/d", "[Z-a]?c", `[\]a]/b/d`) {
		f := githistory.NewFilter(history.Filter{Patterns: []string{pattern}, AnyCase: true})
		for _, path := range paths {
			if !policy.Matches([]string{pattern}, path) {
				continue
			}
			for _, spelling := range []string{path, strings.ToUpper(path)} {
				if !f.Matches(spelling) {
					t.Errorf("%q does not match %q in any case", pattern, spelling)
				}
			}
		}
	}
	for _, path := range []string{"a*b", "x[1].json", `back\slash`, "{a,b}", "q?", "plain"} {
		f := githistory.NewFilter(history.At(path))
		if !f.Matches(path) {
			t.Errorf("%q does not match itself", path)
		}
	}
}

// TestDiffOfPatterns: paths that match patterns are listed as well as workspaces.
func TestDiffOfPatterns(t *testing.T) { eachReader(t, testDiffOfPatterns) }

func testDiffOfPatterns(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("harness/workflows/job/workflow.md", "1")
	r.Write("harness/workflows/job/notes.md", "1")
	r.Write("jobs/1.json", "{}")
	r.Write("jobs/old/2.json", "{}")
	a := r.Commit("a")
	repo := rd.open(t, r)
	edge := history.Edge{Child: a}
	for _, c := range []struct {
		patterns []string
		want     string
	}{
		{nil, ""},
		{[]string{"**/workflows/*/workflow.md"}, "harness/workflows/job/workflow.md"},
		{[]string{"jobs/*.json"}, "jobs/1.json"},
	} {
		got, err := repo.Diff(t.Context(), []history.Edge{edge}, history.Filter{Workspaces: true, Patterns: c.patterns})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, c := range got[0] {
			paths = append(paths, c.Path)
		}
		wantEqual(t, c.want, strings.Join(paths, " "))
	}
}

// TestFilterWorkspaces: below a directory, everything that can hold a wanted file is searched.
func TestFilterWorkspaces(t *testing.T) {
	paths := []string{".small", ".small/a/b", "a/.SMALL/x", "a/b/.small/x", "a/b/.small/c/.small/d", "ab/.small/x", "a/small/x", "x"}
	for _, c := range []struct {
		dirs []string
		want string
	}{
		{nil, "[.small .small/a/b a/.SMALL/x a/b/.small/x a/b/.small/c/.small/d ab/.small/x]"},
		{[]string{"."}, "[.small .small/a/b]"},
		{[]string{"", "a/"}, "[.small .small/a/b a/.SMALL/x]"},
		{[]string{"a/b"}, "[a/b/.small/x a/b/.small/c/.small/d]"},
		{[]string{"none"}, "[]"},
	} {
		f := githistory.NewFilter(history.Workspaces(c.dirs...))
		var got []string
		for _, path := range paths {
			if !f.Matches(path) {
				continue
			}
			got = append(got, path)
			for i := range path {
				if path[i] == '/' && !f.MayContain(path[:i]) {
					t.Errorf("%q: nothing below %q, but %q", c.dirs, path[:i], path)
				}
			}
		}
		wantEqual(t, c.want, fmt.Sprint(got))
		if len(c.dirs) > 0 && f.MayContain("other") {
			t.Errorf("%q: something in another directory", c.dirs)
		}
	}
}
