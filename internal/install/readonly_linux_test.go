package install

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// TestReadOnlyDirectory installs into a read-only directory. Root may write anywhere: as root, the test gives up its thread's rights over
// files, and the thread is discarded afterwards.
func TestReadOnlyDirectory(t *testing.T) {
	repo, program := newRepo(t), newStub(t)
	hooks := filepath.Join(repo, ".git", "hooks")
	put(t, filepath.Join(hooks, "pre-commit"), "#!/bin/sh\n", 0o755)
	letOthersIn(t, hooks)
	letOthersIn(t, filepath.Dir(program.path))
	if err := os.Chmod(hooks, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(hooks, 0o755); err != nil {
			t.Error(err)
		}
	})
	before := tree(t, hooks)

	done := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread must end with this goroutine
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		plans, err := planHooks(hooks, ClientHooks(), program.path)
		if err == nil {
			_, err = applyPlans(hooks, program.path, plans)
		}
		done <- err
	}()
	err := <-done
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "Make sure that you can read and write there") || !strings.Contains(err.Error(), hooks) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, tree(t, hooks)); diff != "" {
		t.Error(diff)
	}
}

// letOthersIn makes a test's directory and its parents, up to the directory for temporary files, readable for other users.
func letOthersIn(t *testing.T, dir string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != top && githistory.IsWithin(top, dir); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing waits for a pipe in place of a file that somebody else writes.
func TestPipes(t *testing.T) {
	pipe := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"lefthook.yml", ".pre-commit-config.yaml", ".husky/pre-commit"} {
		repo, program := newRepo(t), newStub(t)
		pipe(filepath.Join(repo, name))
		if _, err := Install(t.Context(), InstallOptions{Dir: repo, Program: program.path}); err == nil || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	repo := newRepo(t)
	pipe(filepath.Join(repo, "pipe"))
	if err := os.Symlink("pipe", filepath.Join(repo, attributesFile)); err != nil { // git reads no link
		t.Fatal(err)
	}
	diagnose(t, repo)
}
