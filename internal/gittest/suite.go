package gittest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// held is where TempDir makes its directories while a Suite runs.
var held struct {
	sync.Mutex
	suite bool
	dir   string // empty until it is needed
}

// Suite runs a package's tests and only then removes what TempDir made for them.
// ext4 looks through all inodes that were freed in the last five seconds
// whenever a file is made (recently_deleted in fs/ext4/ialloc.c): a third of the
// tests' processor time, where each test cleans up while others run.
type Suite struct{ M interface{ Run() int } }

// Run runs the tests and returns the exit status.
func (s Suite) Run() int {
	held.suite = true
	status := s.M.Run()
	if held.dir == "" {
		return status
	}
	if err := removeAll(held.dir); err != nil {
		fmt.Fprintln(os.Stderr, "gittest:", err)
		return 1
	}
	return status
}

// removeAll removes a directory in which some may not be written to.
func removeAll(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// TempDir makes a directory that is removed after the test, or after all tests
// of a Suite.
func TempDir(t testing.TB) string {
	t.Helper()
	if !held.suite {
		return t.TempDir()
	}
	dir, err := HeldDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// HeldDir makes a directory that is removed after all tests of the Suite.
func HeldDir() (string, error) {
	held.Lock()
	defer held.Unlock()
	if !held.suite {
		return "", errors.New("no Suite runs these tests")
	}
	if held.dir == "" {
		dir, err := os.MkdirTemp("", "small-gate-")
		if err != nil {
			return "", err
		}
		held.dir = dir
	}
	return os.MkdirTemp(held.dir, "")
}
