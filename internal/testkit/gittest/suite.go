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

// held is the place of TempDir's directories while a Suite runs.
var held struct {
	sync.Mutex
	suite bool
	dirs  map[string]string // by parent directory, once needed
}

// Suite runs a package's tests and removes TempDir's directories only afterwards. Whenever a file is created, ext4 checks all inodes freed
// in the last five seconds (recently_deleted in fs/ext4/ialloc.c): that took a third of the tests' processor time when each test cleaned up
// while others ran.
type Suite struct{ M interface{ Run() int } }

// Run runs the tests and returns the exit status.
func (s Suite) Run() int {
	held.suite = true
	status := s.M.Run()
	for _, dir := range held.dirs {
		if err := removeAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "gittest:", err)
			return 1
		}
	}
	return status
}

// removeAll removes a directory that may contain read-only directories.
func removeAll(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// TempDir makes a directory that is removed after the test, or after all tests of a Suite.
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
	in := os.TempDir()
	if os.Getenv("TMPDIR") == "" && roomInMemory() {
		in = memory
	}
	if held.dirs[in] == "" {
		dir, err := os.MkdirTemp(in, "small-gate-")
		if err != nil {
			return "", err
		}
		if held.dirs == nil {
			held.dirs = map[string]string{}
		}
		held.dirs[in] = dir
	}
	return os.MkdirTemp(held.dirs[in], "")
}
