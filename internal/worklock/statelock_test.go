package worklock_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/worklock"
)

// TestTakeState holds the lock of the protocol's own program, waits for it, and names one that was left.
func TestTakeState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, ".small-cache", "state.lock")
	release, err := worklock.TakeState(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if text, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(text), fmt.Sprintf("pid=%d\ncreated_at=2", os.Getpid())) {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := worklock.TakeState(t.Context(), dir, time.Millisecond); err == nil || !strings.Contains(failure.Of(err).Message, fmt.Sprintf("process %d ", os.Getpid())) {
		t.Errorf("a lock that is held: %v", err)
	}
	waited := make(chan error)
	go func() {
		release, err := worklock.TakeState(t.Context(), dir, time.Minute)
		if err == nil {
			err = release()
		}
		waited <- err
	}()
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the lock stays: %v", err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf("pid=%d\ncreated_at=2026-01-02T03:04:05Z\n", ended.Process.Pid)
	if err := os.WriteFile(name, []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = worklock.TakeState(t.Context(), dir, time.Minute)
	if f := failure.Of(err); f == nil || !strings.Contains(f.Message, "2026-01-02T03:04:05Z") || !strings.Contains(f.Remedy, "`rm -f -- "+name+"`") {
		t.Errorf("a stale lock: %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != left {
		t.Errorf("a stale lock was touched: %q, %v", text, err)
	}
	if err := os.WriteFile(name, []byte(left+"command=small-hook\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if release, err := worklock.TakeState(t.Context(), dir, 0); err != nil {
		t.Errorf("one that we have left: %v", err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
}
