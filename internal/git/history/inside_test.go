package githistory

import (
	"errors"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Helpers for tests of the git reader's internals. Its interface is tested from outside, together with the other reader's.

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

func content(t *testing.T, repo *Repo, object string) string {
	t.Helper()
	blob, err := repo.Blob(t.Context(), object, 1<<20)
	if err != nil {
		t.Fatalf("Blob: %v", err)
	}
	return string(blob.Data)
}
