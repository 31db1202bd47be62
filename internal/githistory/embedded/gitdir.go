package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxLink bounds how much of a file that names a directory is read, in bytes.
const maxLink = 1 << 16

var errNotGitDir = errors.New("not a git repository")

// isGitDir reports whether dir is a git directory, as git decides it: it has a
// HEAD that can be one, and objects and refs are there.
func isGitDir(dir string, env gitcmd.Environ) bool {
	if !plausibleHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	common, _, err := commonDir(dir)
	if err != nil {
		return false
	}
	// The variable's own directory is checked where it is used.
	objects := env.Get("GIT_OBJECT_DIRECTORY") != "" || isDir(filepath.Join(common, "objects"))
	return objects && isDir(filepath.Join(common, "refs"))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// plausibleHead reports whether a file can be a HEAD: a symbolic link into
// refs, a symbolic ref, or an id.
func plausibleHead(name string) bool {
	if target, err := os.Readlink(name); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := readSmall(name)
	if err != nil {
		return false
	}
	text := string(data)
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(target, " \t\r\n"), "refs/")
	}
	return len(text) >= idDigits && history.IsHex(text[:idDigits])
}

// readLink reads a .git file, which names the git directory of a linked work
// tree or of a submodule (gitrepository-layout(5)). isLink is false if path is
// something else than a file.
func readLink(path string) (gitDir string, isLink bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false, nil //nolint:nilerr // then it is no file
	}
	data, err := readSmall(path)
	if err != nil {
		return "", true, err
	}
	named, ok := strings.CutPrefix(string(data), "gitdir: ")
	named = strings.TrimRight(named, "\r\n")
	if !ok || named == "" {
		return "", true, fmt.Errorf("%s does not name a git directory", wording.Printable(path))
	}
	return githistory.Within(filepath.Dir(path), named), true, nil
}

// commonDir is the git directory that holds objects and branches for gitDir:
// itself, or for a linked work tree the one that its file commondir names.
func commonDir(gitDir string) (dir string, linked bool, err error) {
	data, err := readSmall(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, os.ErrNotExist) {
		return gitDir, false, nil
	}
	named := strings.TrimRight(string(data), "\r\n")
	if err == nil && named == "" {
		err = fmt.Errorf("%s is empty", wording.Printable(filepath.Join(gitDir, "commondir")))
	}
	return githistory.Within(gitDir, named), true, err
}

// readSmall reads a file that has no reason to be long.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLink {
		return nil, fmt.Errorf("%s is not a regular file, or too large", wording.Printable(name))
	}
	return os.ReadFile(name)
}
