package githistory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// What a narrow question finds in a commit's trees is what git lists of all files.
func TestNarrowLists(t *testing.T) {
	eachReader(t, testNarrowLists)
}

func testNarrowLists(t *testing.T, rd reader) {
	t.Parallel()
	random := rand.New(rand.NewPCG(43, 0))
	names := []string{".small", ".SMALL", ".small-gate.yml", ".small-gate.yml.d", ".gitattributes", "a", "A", "lib", "é", "x y", "a[1]"}
	filters := []history.Filter{
		{Patterns: []string{".small-gate.yml"}}, {Patterns: []string{".small-gate.yml*"}}, {Patterns: []string{"lib/**"}}, {Patterns: []string{"{a,lib}/x y"}},
		{Patterns: []string{".small/.gitattributes", ".gitattributes", "lib/.gitattributes"}}, {Workspaces: true, Dirs: []string{"."}},
		{Workspaces: true, Dirs: []string{"a", "lib/a"}}, history.Twins("lib/a", "é"), {Workspaces: true, Dirs: []string{"a"}, Patterns: []string{"lib/x*"}},
		{Patterns: []string{"LIB/X*", "É/**", ".GITattributes", "A/a[[]1]/*"}, AnyCase: true}, {Workspaces: true, Patterns: []string{"*/A/*"}, AnyCase: true},
	}
	for range 3 {
		r := gittest.New(t)
		blob := strings.TrimSpace(r.GitInput("x\n", "hash-object", "-w", "--stdin"))
		var index strings.Builder
		for range 80 {
			path := names[random.IntN(len(names))]
			for random.IntN(3) > 0 {
				path += "/" + names[random.IntN(len(names))]
			}
			fmt.Fprintf(&index, "%s %s\t%s\n", []string{"100644", "100755", "120000"}[random.IntN(3)], blob, path)
		}
		r.GitInput(index.String(), "update-index", "--replace", "--index-info") // of a file and its directory, the later stays
		r.Git("commit", "-q", "-m", "Some")
		compareLists(t, rd, r, filters)
	}
}

// Trees that git lists in its own way: modes of old programs, submodules, a path that occurs twice, and one tree larger than what is read.
func TestNarrowListsOfOddTrees(t *testing.T) {
	r := gittest.New(t)
	blob := strings.TrimSpace(r.GitInput("x\n", "hash-object", "-w", "--stdin"))
	commit := strings.Repeat("1", len(blob))
	var large strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&large, "100644 blob %s\tfile%d\n", blob, i)
	}
	for name, entries := range map[string]string{
		"a mode of an old program": "100664 blob " + blob + "\t.gitattributes\n",
		"a submodule":              "160000 commit " + commit + "\t.small\n",
		"a large tree":             large.String() + "100644 blob " + blob + "\t.gitattributes\n",
		"none":                     "",
	} {
		tree := strings.TrimSpace(r.GitInput(entries, "mktree", "--missing"))
		r.Git("reset", "-q", "--soft", strings.TrimSpace(r.Git("commit-tree", "-m", name, tree)))
		compareLists(t, readers[0], r, []history.Filter{{Patterns: []string{".gitattributes"}}, {Workspaces: true, Dirs: []string{"."}}})
	}
}

func compareLists(t *testing.T, rd reader, r *gittest.Repo, filters []history.Filter) {
	t.Helper()
	repo := rd.open(t, r)
	all, err := repo.List(t.Context(), r.ID("HEAD"), history.Filter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range filters {
		filter := githistory.NewFilter(f)
		want := slices.DeleteFunc(slices.Clone(all), func(f history.File) bool { return !filter.Matches(f.Path) })
		got, err := repo.List(t.Context(), r.ID("HEAD"), f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]history.File{}, want...), append([]history.File{}, got...)); diff != "" {
			t.Errorf("%+v:\n%s", f, diff)
		}
	}
}
