package githistory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// opened is a repository opened by either reader. The tests of this package apply to both, unless they name one.
type opened = repository.Repository

// reader is one of the readers.
type reader struct {
	name string
	try  func(ctx context.Context, dir string, environ []string) (opened, error)
}

var readers = []reader{
	{"git", func(ctx context.Context, dir string, environ []string) (opened, error) {
		return checked(githistory.Open(ctx, dir, githistory.Options{Environ: environ}))
	}},
	{"go-git", func(ctx context.Context, dir string, environ []string) (opened, error) {
		return checked(plain.Open(ctx, dir, environ))
	}},
}

// checked keeps a nil pointer from becoming an interface that is not nil.
func checked[R opened](repo R, err error) (opened, error) {
	if err != nil {
		return nil, err
	}
	return repo, nil
}

// eachReader runs a test once for each reader.
func eachReader(t *testing.T, test func(t *testing.T, rd reader)) {
	for _, rd := range readers {
		t.Run(rd.name, func(t *testing.T) { test(t, rd) })
	}
}

// open opens r as a hook would: in its directory, with its environment.
func (rd reader) open(t testing.TB, r *gittest.Repo) opened {
	t.Helper()
	repo, err := rd.try(t.Context(), r.Dir, r.Environ())
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

// refuses checks that the go-git reader names what it does not support. It reports whether this is that reader.
func (rd reader) refuses(t *testing.T, r *gittest.Repo, words ...string) bool {
	t.Helper()
	if rd.name != "go-git" {
		return false
	}
	_, err := rd.try(t.Context(), r.Dir, r.Environ())
	wantUnserved(t, err, words...)
	return true
}

// wantUnserved checks that an error is a refusal of the go-git reader.
func wantUnserved(t *testing.T, err error, words ...string) {
	t.Helper()
	wantFailure(t, err, append(words, "--reader git")...)
	if !errors.Is(err, plain.ErrUnserved) {
		t.Errorf("%v is not ErrUnserved", err)
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func wantCancelled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want one that wraps context.Canceled", err)
	}
}

// wantFailure checks that err is outcome 2 and has all of the words.
func wantFailure(t *testing.T, err error, words ...string) *failure.Error {
	t.Helper()
	var f *failure.Error
	if !errors.As(err, &f) {
		t.Fatalf("the error is %#v, want a *failure.Error", err)
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

// judged selects the files that are judged under the built-in configuration.
var judged = history.Judged(policy.Default())

// changes renders the changes of edges, one string for each:
// "path oldmode:oldcontent newmode:newcontent", with "-" for an absent side.
func changes(t *testing.T, repo opened, edges ...history.Edge) [][]string {
	t.Helper()
	all, err := repo.Diff(t.Context(), edges, judged)
	if err != nil {
		t.Fatalf("Changes: %v", err)
	}
	rendered := make([][]string, len(all))
	for i, list := range all {
		rendered[i] = shown(t, repo, list)
	}
	return rendered
}

// shown renders changes: "path mode:content mode:content".
func shown(t *testing.T, repo opened, list []history.Change) []string {
	t.Helper()
	rendered := []string{}
	for _, c := range list {
		rendered = append(rendered, fmt.Sprintf("%s %s %s", c.Path, side(t, repo, c.Path, c.Old), side(t, repo, c.Path, c.New)))
	}
	return rendered
}

// files renders the files of a revision: "path mode:content".
func files(t *testing.T, repo opened, revision string, dirs ...string) []string {
	t.Helper()
	list, err := repo.List(t.Context(), revision, history.Workspaces(dirs...))
	if err != nil {
		t.Fatalf("Files: %v", err)
	}
	rendered := []string{}
	for _, f := range list {
		rendered = append(rendered, f.Path+" "+side(t, repo, f.Path, f))
	}
	return rendered
}

func pathsOf(files []history.File) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

func side(t *testing.T, repo opened, path string, f history.File) string {
	t.Helper()
	switch {
	case f == history.File{}:
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

func content(t *testing.T, repo opened, object string) string {
	t.Helper()
	blob, err := repo.Blob(t.Context(), object, 1<<20)
	if err != nil {
		t.Fatalf("Blob: %v", err)
	}
	return string(blob.Data)
}

// commitIDs lists the ids and, after a colon, the parents' ids, each by its name in names, in order.
func commitIDs(t *testing.T, names map[string]string, commits []history.Commit) []string {
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
	slices.Sort(list)
	return list
}
