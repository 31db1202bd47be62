package githistory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestTwins: paths that differ only in case from a directory, or from one above it, are listed, with everything below.
func TestTwins(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testTwins)
}

func testTwins(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.GitInput("x\n", "hash-object", "-w", "--stdin")
	for _, path := range []string{
		"Lib/a[1]/é*/.small/x", "lib", "LIB/deep/x", "Lib/A[1]/x", "Lib/A1/x", "Lib/a[1]/É*", "Lib/a[1]/Éx", "Lib/a[1]/x/É*",
		"lib2/x", "xLib/x", "Lib/b/X", "Lib/b/x", "other/lib",
	} {
		r.GitInput("100644 "+strings.TrimSpace(blob)+"\t"+path+"\n", "update-index", "--index-info")
	}
	r.Git("commit", "-q", "-m", "Twins")
	repo := rd.open(t, r)
	for _, revision := range []string{r.ID("HEAD"), history.Index} {
		files, err := repo.List(t.Context(), revision, history.Twins("Lib/a[1]/é*", "Lib/b", ""))
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		wantEqual(t, "LIB/deep/x Lib/A[1]/x Lib/a[1]/É* lib", strings.Join(paths, " "))
	}
}

// TestTwinsOfEachOther: two directories are both listed if they are twins of each other, in a commit and in the index, few directories or many.
func TestTwinsOfEachOther(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		t.Parallel()
		r := gittest.New(t)
		blob := strings.TrimSpace(r.GitInput("x\n", "hash-object", "-w", "--stdin"))
		for _, path := range []string{"a/b/x", "A/b/x", "c/x"} {
			r.GitInput("100644 "+blob+"\t"+path+"\n", "update-index", "--index-info")
		}
		r.Git("commit", "-q", "-m", "Twins")
		repo := rd.open(t, r)
		many := []string{"a/b", "A/b"}
		for i := range 100 {
			many = append(many, fmt.Sprint("c", i))
		}
		for _, revision := range []string{r.ID("HEAD"), history.Index} {
			for _, dirs := range [][]string{{"a/b", "A/b"}, many} {
				files, err := repo.List(t.Context(), revision, history.Twins(dirs...))
				if err != nil {
					t.Fatal(err)
				}
				var paths []string
				for _, f := range files {
					paths = append(paths, f.Path)
				}
				wantEqual(t, "A/b/x a/b/x", strings.Join(paths, " "))
			}
		}
	})
}

// TestManyPaths: a filter may have more paths than fit into the arguments of a command.
func TestManyPaths(t *testing.T) {
	gittest.Long(t)
	eachReader(t, func(t *testing.T, rd reader) {
		t.Parallel()
		r := gittest.New(t)
		first := r.CommitFile("a", "1")
		r.Write("b", "1")
		second := r.CommitFile("a", "2")
		paths := []string{"a"}
		for i := range 50_000 {
			paths = append(paths, fmt.Sprint("a folder with a long name, which is not here/", i))
		}
		repo := rd.open(t, r)
		edges := []history.Edge{{Parent: first, Child: second}, {Child: second}, {Parent: first, Child: history.Index}}
		changes, err := repo.Diff(t.Context(), edges, history.At(paths...))
		if err != nil {
			t.Fatal(err)
		}
		for i, found := range changes {
			if len(found) != 1 || found[0].Path != "a" {
				t.Errorf("edge %d: %v", i, found)
			}
		}
		for _, revision := range []string{second, history.Index} {
			files, err := repo.List(t.Context(), revision, history.At(paths...))
			if err != nil || len(files) != 1 || files[0].Path != "a" {
				t.Errorf("%s: %v, %v", revision, files, err)
			}
		}
	})
}
