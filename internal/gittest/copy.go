package gittest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// CopyTree copies a directory's files with their permissions. In a copied
// repository run git update-index --refresh: the index knows the old files.
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
