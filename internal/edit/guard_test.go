package edit_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/edit"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestGuardAfterAnError has a command lose the log and then fail without an exit status.
func TestGuardAfterAnError(t *testing.T) {
	r := gittest.New(t)
	if err := os.CopyFS(r.Path(".small"), os.DirFS(filepath.Join("..", "..", "cmd", "small-hook", "testdata", "workspace", ".small"))); err != nil {
		t.Fatal(err)
	}
	r.Commit("a workspace")
	log := filepath.Join(r.Dir, ".small", "progress.small.yml")
	want, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("its output could not be read")
	done, err := edit.Guard(t.Context(), session.Request{Dir: r.Dir, Environ: r.Environ(), Now: time.Now()}, edit.Locking{Wait: time.Second}, func([]string) error {
		return errors.Join(os.Remove(log), failed)
	})
	if !errors.Is(err, failed) || len(done.After) != 1 {
		t.Errorf("put back %d times, and the error is %v", len(done.After), err)
	}
	if got, err := os.ReadFile(log); err != nil || string(got) != string(want) {
		t.Errorf("the log is not put back: %v\n%s", err, got)
	}
}
