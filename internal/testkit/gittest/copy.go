package gittest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Copy copies a repository with a work tree for another test. Making a new one takes several processes for each commit.
func (r *Repo) Copy(t testing.TB) *Repo {
	t.Helper()
	c := *r
	c.t, c.Dir = t, realPath(t, TempDir(t))
	if err := CopyTree(c.Dir, r.Dir); err != nil {
		t.Fatal(err)
	}
	c.Git("update-index", "--refresh") // the copied files have new inodes and times
	return &c
}

// CopyTree copies a directory's files with their permissions.
func CopyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, info.Mode().Perm())
	})
}
