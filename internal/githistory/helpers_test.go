package githistory

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gittest"
)

// open opens r as a hook would: in its directory, with its environment.
func open(t testing.TB, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Open(t.Context(), r.Dir, Options{Environ: r.Environ()})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return repo
}

// wantFailure checks that err is outcome 2 and says all of the words.
func wantFailure(t *testing.T, err error, words ...string) *gate.Failure {
	t.Helper()
	var f *gate.Failure
	if !errors.As(err, &f) {
		t.Fatalf("the error is %#v, want a *gate.Failure", err)
	}
	for _, word := range words {
		if !strings.Contains(f.Error(), word) {
			t.Errorf("the failure does not say %q:\n%v", word, f)
		}
	}
	if strings.ContainsAny(f.Message, "\x00\x1b") {
		t.Errorf("the failure holds control characters: %q", f.Message)
	}
	return f
}

func wantEqual(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// changes renders the changes of edges, one string for each:
// "path oldmode:oldcontent newmode:newcontent", with "-" for an absent side.
func changes(t *testing.T, repo *Repo, edges ...gate.Edge) [][]string {
	t.Helper()
	all, err := repo.Changes(t.Context(), edges)
	if err != nil {
		t.Fatalf("Changes: %v", err)
	}
	rendered := make([][]string, len(all))
	for i, list := range all {
		rendered[i] = []string{}
		for _, c := range list {
			rendered[i] = append(rendered[i], fmt.Sprintf("%s %s %s", c.Path, side(t, repo, c.Path, c.Old), side(t, repo, c.Path, c.New)))
		}
	}
	return rendered
}

// files renders the files of a revision: "path mode:content".
func files(t *testing.T, repo *Repo, revision string, dirs ...string) []string {
	t.Helper()
	list, err := repo.Files(t.Context(), revision, dirs...)
	if err != nil {
		t.Fatalf("Files: %v", err)
	}
	rendered := []string{}
	for _, f := range list {
		rendered = append(rendered, f.Path+" "+side(t, repo, f.Path, f))
	}
	return rendered
}

func side(t *testing.T, repo *Repo, path string, f gate.File) string {
	t.Helper()
	switch {
	case f == gate.File{}:
		return "-"
	case f.Path != path:
		t.Errorf("a side of %q has the path %q", path, f.Path)
	case f.Unmerged:
		if f.Mode != "" || f.Object != "" {
			t.Errorf("an unmerged path has the mode %q and the object %q", f.Mode, f.Object)
		}
		return "unmerged"
	case f.Mode == "160000":
		return f.Mode
	}
	return f.Mode + ":" + content(t, repo, f.Object)
}

func content(t *testing.T, repo *Repo, object string) string {
	t.Helper()
	blob, err := repo.Blob(t.Context(), object, 1<<20)
	if err != nil {
		t.Fatalf("Blob: %v", err)
	}
	return string(blob.Data)
}

// commitIDs lists the ids and, behind a colon, the parents' ids, each under
// the name that it has in names.
func commitIDs(t *testing.T, names map[string]string, commits []gate.Commit) []string {
	t.Helper()
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return id
	}
	list := []string{}
	for _, c := range commits {
		s := name(c.ID) + ":"
		for _, p := range c.Parents {
			s += " " + name(p)
		}
		list = append(list, s)
	}
	return list
}
