package entrypoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/entrypoint"
)

// TestGuardAfterAnError has a command that fails in another way than with a status after it has lost the log.
func TestGuardAfterAnError(t *testing.T) {
	r := workspace(t)
	log := filepath.Join(r.Dir, ".small", "progress.small.yml")
	want, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("its output could not be read")
	done, err := entrypoint.Guard(t.Context(), request(r, "git"), entrypoint.Locking{Wait: time.Second}, func([]string) error {
		return errors.Join(os.Remove(log), failed)
	})
	if !errors.Is(err, failed) || len(done.After) != 1 {
		t.Errorf("put back %d times, and the error is %v", len(done.After), err)
	}
	if got, err := os.ReadFile(log); err != nil || string(got) != string(want) {
		t.Errorf("the log is not put back: %v\n%s", err, got)
	}
}
