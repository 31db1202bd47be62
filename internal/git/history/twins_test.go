package githistory_test

import (
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
