package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
)

// What says which state of the files is meant.
type What struct {
	// Staged is the index, Ref a commit; neither means the files on disk.
	Staged bool
	Ref    string
	// Against is a commit whose logs those on disk have to continue; empty for none.
	Against string
	// Recursive judges every workspace at or below the directory.
	Recursive bool
}

// In is the opener of what is meant: files on disk need no git.
func (w What) In(req Request) Opener {
	switch {
	case w.Staged && w.Ref != "", w.Against != "" && (w.Staged || w.Ref != ""):
		return func(context.Context, string, func(*Session) error) (string, error) {
			return "", &failure.Error{Message: "--staged, --ref and --against exclude each other", Remedy: "give one of them"}
		}
	case w.Staged || w.Ref != "" || w.Against != "":
		return req.InRepository
	}
	return req.inDirectory
}

// Located is the directory to look at in a session's tree. Label names the revision for people.
type Located struct{ Revision, Label, Dir string }

// Locate finds what is meant. On disk the request's directory is the whole tree.
func (s *Session) Locate(ctx context.Context, w What) (at Located, err error) {
	switch {
	case s.Repo == nil:
		return Located{}, nil
	case w.Staged:
		at = Located{Revision: history.Index, Label: "the index"}
	default:
		at.Label = w.Ref
		if at.Revision, err = s.Commit(ctx, w.Ref); err != nil {
			return at, err
		}
	}
	at.Dir, err = s.PathOf(s.Req.Dir)
	return at, err
}

// WorkspaceRoot is the directory that holds the workspace of dir, which may be the .small directory itself.
func WorkspaceRoot(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // without a working directory, opening it fails and says so
	}
	return filepath.Join(dir, "..")
}

// HoldsWorkspace reports whether a directory holds a workspace, or is its .small directory.
func HoldsWorkspace(dir string) bool {
	info, err := os.Stat(filepath.Join(WorkspaceRoot(dir), small.Dir))
	return err == nil && info.IsDir()
}

// Above is the request for the nearest directory that holds a workspace, from the current one up to the work tree's root, unless the
// request names a directory.
func (r Request) Above() Request {
	if r.Dir != "" {
		r.Dir = WorkspaceRoot(r.Dir)
		return r
	}
	abs, err := filepath.Abs("")
	if err != nil {
		return r // opening the current directory fails and says so
	}
	root := RepositoryRoot(abs)
	for at := abs; ; at = filepath.Dir(at) {
		if HoldsWorkspace(at) {
			r.Dir = WorkspaceRoot(at)
			return r
		}
		if at == root {
			return r
		}
	}
}

// Top is the root of the work tree of the current directory; that directory itself if there is none.
func Top() (string, error) {
	here, err := filepath.Abs("")
	return RepositoryRoot(here), err
}

// RepositoryRoot is the nearest directory at or above dir that holds .git, or dir if there is none.
func RepositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// PathOf is a directory's slash-separated path in the repository, "" for its root.
func (s *Session) PathOf(dir string) (string, error) {
	top := s.Repo.Where().Top
	if top == "" {
		return "", nil
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", &failure.Error{Message: "there is no directory " + dir, Remedy: "name one that is there", Err: err}
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot look into " + dir + ": " + err.Error(), Err: err}
	}
	rel, err := filepath.Rel(top, abs)
	switch {
	case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		return "", &failure.Error{Message: dir + " is not in the work tree " + top, Err: err}
	case rel == ".":
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// NearestThere cuts a path in two: the directory that is on the disk, and what is gone of it.
func NearestThere(at string) (there, gone string) {
	for there = at; there != ""; there, gone = filepath.Dir(there), filepath.Join(filepath.Base(there), gone) {
		if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) || there == filepath.Dir(there) {
			break
		}
	}
	return there, gone
}
