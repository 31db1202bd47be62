package embedded

import (
	"os"
	"path/filepath"
	"strings"
)

// environ are the variables of the caller, each as KEY=VALUE.
type environ []string

// lookup is the value of a variable; of several the last counts.
func (e environ) lookup(name string) (value string, set bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(e[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// get is the value of a variable, empty if it is not set.
func (e environ) get(name string) string {
	value, _ := e.lookup(name)
	return value
}

// off reports whether a variable holds one of git's words for no.
func (e environ) off(name string) bool {
	switch strings.ToLower(e.get(name)) {
	case "0", "false", "no", "off":
		return true
	}
	return false
}

// on reports whether a variable holds one of git's words for yes.
func (e environ) on(name string) bool {
	switch strings.ToLower(e.get(name)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// within is a path as it is meant in base.
func within(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// physical is the absolute path of dir with symbolic links resolved.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// inside reports whether dir is root or below it. Both are physical.
func inside(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
