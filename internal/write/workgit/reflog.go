package workgit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// WasAt reports whether a ref was at a commit, by its reflog.
func WasAt(at githistory.Place, ref, commit string) (bool, error) {
	lines, err := reflog(at, ref)
	return slices.ContainsFunc(lines, func(line []byte) bool {
		_, rest, _ := bytes.Cut(line, []byte(" "))
		return bytes.HasPrefix(rest, []byte(commit+" "))
	}), err
}

// BeforePushes returns the position that a remote-tracking branch, now at tip, had before the last pushes from this clone, and whether there were any.
// The reflog records them, with words that are the same in every language (transport.c). before is empty if a push created the branch.
func BeforePushes(at githistory.Place, ref, tip string) (before string, pushed bool, err error) {
	lines, err := reflog(at, ref)
	for _, line := range slices.Backward(lines) {
		head, message, _ := bytes.Cut(line, []byte("\t"))
		ids := bytes.SplitN(head, []byte(" "), 3)
		if len(ids) < 3 || string(ids[1]) != tip || string(message) != "update by push" {
			break
		}
		if tip, pushed = string(ids[0]), true; len(bytes.Trim(ids[0], "0")) == 0 {
			return "", true, nil
		}
	}
	return tip, pushed, err
}

// reflog returns the lines of a ref's reflog, oldest first (old id, new id, who and when, a tab, why); none if it has no file.
func reflog(at githistory.Place, ref string) ([][]byte, error) {
	log, err := os.ReadFile(filepath.Join(at.CommonDir, "logs", filepath.FromSlash(ref)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot read the reflog of " + wording.Printable(ref) + ": " + wording.Printable(err.Error()), Remedy: "make the git directory readable", Err: err}
	}
	return bytes.Split(bytes.TrimSpace(log), []byte("\n")), nil
}
