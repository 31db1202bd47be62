package lock_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
)

// TestTakeState holds the lock of the protocol's own program, waits for it, and names a stale one.
func TestTakeState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, ".small-cache", "state.lock")
	release, err := lock.TakeState(t.Context(), dir, 0)
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
	if _, err := lock.TakeState(t.Context(), dir, time.Millisecond); err == nil || !strings.Contains(failure.Of(err).Message, fmt.Sprintf("process %d ", os.Getpid())) {
		t.Errorf("a lock that is held: %v", err)
	}
	waited := make(chan error)
	go func() {
		release, err := lock.TakeState(t.Context(), dir, time.Minute)
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
	_, err = lock.TakeState(t.Context(), dir, time.Minute)
	if f := failure.Of(err); f == nil || !strings.Contains(f.Message, "2026-01-02T03:04:05Z") || !strings.Contains(f.Remedy, "`rm -f -- "+name+"`") {
		t.Errorf("a stale lock: %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != left {
		t.Errorf("a stale lock was touched: %q, %v", text, err)
	}
	if err := os.WriteFile(name, []byte(left+"command=small-hook\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if release, err := lock.TakeState(t.Context(), dir, 0); err != nil {
		t.Errorf("one that we have left: %v", err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
	// In containers, process ids soon return: an earlier process may have had the one of this process.
	mine := fmt.Sprintf("pid=%d\ncreated_at=2026-01-02T03:04:05Z\n", os.Getpid())
	if err := os.WriteFile(name, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.TakeState(t.Context(), dir, time.Second); err == nil || !strings.Contains(failure.Of(err).Message, "does not run here any more") {
		t.Errorf("a stale lock with our process id: %v", err)
	}
	if err := os.WriteFile(name, []byte(mine+"command=small-hook\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if release, err := lock.TakeState(t.Context(), dir, time.Second); err != nil {
		t.Errorf("one that a process with our id has left: %v", err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
	// A lock of another small-hook that is at work is not called one of the protocol's own program.
	other := fmt.Sprintf("pid=%d\ncreated_at=2026-01-02T03:04:05Z\ncommand=small-hook\n", os.Getppid())
	if err := os.WriteFile(name, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.TakeState(t.Context(), dir, 0); err == nil || !strings.Contains(failure.Of(err).Message, fmt.Sprintf("process %d of small-hook ", os.Getppid())) {
		t.Errorf("a lock of another small-hook: %v", err)
	}
}

// TestTakeStateLinks puts links from the repository where the lock is made: nothing is written through them, and none is read endlessly.
func TestTakeStateLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	cache := filepath.Join(dir, ".small-cache")
	theirs := filepath.Join(outside, "theirs")
	if err := os.WriteFile(theirs, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, cache); err != nil {
		t.Skip(err)
	}
	if _, err := lock.TakeState(t.Context(), dir, 0); err == nil || !strings.Contains(failure.Of(err).Remedy, "a writable directory") {
		t.Errorf("a link for the directory: %v", err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	if err := errors.Join(os.Remove(cache), os.Mkdir(cache, 0o755), os.Symlink(theirs, filepath.Join(cache, ".state.lock.small-hook"))); err != nil {
		t.Fatal(err)
	}
	release, err := lock.TakeState(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(theirs); err != nil || string(text) != "kept" {
		t.Errorf("written through a link: %q, %v", text, err)
	}
	if err := errors.Join(release(), os.Symlink(os.DevNull, filepath.Join(cache, "state.lock"))); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.TakeState(t.Context(), dir, 0); err == nil || !strings.Contains(failure.Of(err).Message, "does not say by whom") {
		t.Errorf("a link for the lock: %v", err)
	}
}

// TestStateWithoutLinks makes the lock on a file system without hard links: whole, private, and once.
func TestStateWithoutLinks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "state.lock")
	if err := lock.CreateState(name, []byte("pid=1\n")); err != nil {
		t.Fatal(err)
	}
	if err := lock.CreateState(name, []byte("pid=2\n")); !errors.Is(err, os.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "pid=1\n" {
		t.Errorf("%q, %v", text, err)
	}
}
