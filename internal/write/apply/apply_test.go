package apply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// What is overwritten is kept, the mode stays, and a ref that has moved meanwhile stops before anything of it is lost: the same call with the
// new commit does the rest.
func TestDo(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("log", "1\n")
	r.Git("add", "log")
	r.Git("update-index", "--chmod=+x", "log")
	r.Commit("first")
	old := r.Git("rev-parse", "HEAD")
	r.Git("commit", "-q", "--allow-empty", "-m", "second")
	head := r.Git("rev-parse", "HEAD")
	r.Write("log", "1\nnobody else has this\n")
	r.Write("gone", "x")
	repo, err := githistory.Open(t.Context(), r.Dir, githistory.Options{Environ: r.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	git, err := workgit.Open(repo.Where(), r.Environ())
	if err != nil {
		t.Fatal(err)
	}
	place := apply.Place{Top: r.Dir, Kept: r.Path(".git/small-gate/x"), Again: "try again"}
	files := []apply.File{
		{File: history.File{Path: "log", Object: r.GitInput("1\n2\n", "hash-object", "-w", "--stdin")}, Content: []byte("1\n2\n"), Over: []byte("1\nnobody else has this\n")},
		{File: history.File{Path: "gone"}, Removed: true},
		{File: history.File{Path: "new/empty", Object: r.GitInput("", "hash-object", "-w", "--stdin")}, Content: []byte{}},
	}
	if _, err := place.Do(t.Context(), git, files, &apply.Move{Ref: "HEAD", From: old, To: old, Reason: "test"}); err == nil || r.Git("rev-parse", "HEAD") != head {
		t.Fatalf("the ref was at another commit: %v", err)
	}
	kept, err := place.Do(t.Context(), git, files, &apply.Move{Ref: "HEAD", From: head, To: old, Reason: "test"})
	if err != nil || r.Git("rev-parse", "HEAD") != old {
		t.Fatal(err)
	}
	copies, err := os.ReadDir(place.Kept)
	if err != nil || len(copies) != 1 || kept["log"] != filepath.Join(place.Kept, copies[0].Name()) || len(kept) != 1 {
		t.Errorf("kept %v in %v, %v", kept, copies, err)
	}
	if text, err := os.ReadFile(kept["log"]); err != nil || string(text) != "1\nnobody else has this\n" {
		t.Errorf("kept %q, %v", text, err)
	}
	if text, err := os.ReadFile(r.Path("log")); err != nil || string(text) != "1\n2\n" {
		t.Errorf("the log is %q, %v", text, err)
	}
	if _, err := os.Lstat(r.Path("gone")); err == nil {
		t.Error("a file was not removed")
	}
	if got, want := strings.TrimSpace(r.Git("diff", "--cached", "--summary", "HEAD")), "create mode 100644 new/empty"; got != want {
		t.Errorf("staged: %q, want %q: modes stay", got, want)
	}
}

// TestKeepLongName keeps a file whose name is as long as the system allows.
func TestKeepLongName(t *testing.T) {
	t.Parallel()
	p := apply.Place{Kept: filepath.Join(t.TempDir(), "kept")}
	for _, at := range []string{"dir/" + strings.Repeat("n", 252) + ".md", "dir/a." + strings.Repeat("n", 250)} {
		name, err := p.Keep(at, []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
	}
}
