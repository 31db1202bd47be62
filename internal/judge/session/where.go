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

// State says which version of the files to judge: the one on disk, in the index or in a commit.
type State struct {
	// Staged is the index, Ref a commit; neither means the files on disk.
	Staged bool
	Ref    string
	// Against is a commit whose logs the logs on disk have to continue; empty for none.
	Against string
	// Recursive judges every workspace at or below the directory.
	Recursive bool
}

// Opener returns the opener for a state. Files on disk need no repository, unless they are compared with Against.
func (w State) Opener(req Request) Opener {
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

// Located is a revision and a directory in it. Label names the revision for people.
type Located struct{ Revision, Label, Dir string }

// Locate finds the revision and the directory to judge. Without a repository both are empty, because the request's directory is the
// whole tree. A state with Against is judged without Locate.
func (s *Session) Locate(ctx context.Context, w State) (at Located, err error) {
	switch {
	case s.Repo == nil:
		return Located{}, nil
	case w.Staged:
		at = Located{Revision: history.Index, Label: "the index"}
	default:
		at.Label = w.Ref
		if at.Revision, err = s.ResolveCommit(ctx, w.Ref); err != nil {
			return at, err
		}
	}
	at.Dir, err = s.PathOf(s.Req.Dir)
	return at, err
}

// WorkspaceRoot returns the directory that holds .small: dir, or dir's parent if dir is .small itself.
func WorkspaceRoot(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // without a working directory, opening it fails and says so
	}
	return filepath.Join(dir, "..")
}

// HoldsWorkspace reports whether a directory holds .small, or is .small itself.
func HoldsWorkspace(dir string) bool {
	info, err := os.Stat(filepath.Join(WorkspaceRoot(dir), small.Dir))
	return err == nil && info.IsDir()
}

// AtNearestWorkspace returns the request with the nearest directory that holds a workspace, from the current directory up to the work tree's root. A
// request that names a directory keeps it.
func (r Request) AtNearestWorkspace() Request {
	if r.Dir != "" {
		r.Dir = WorkspaceRoot(r.Dir)
		return r
	}
	abs, err := filepath.Abs("")
	if err != nil {
		return r // opening the current directory fails and says so
	}
	root := WorkTreeRootOf(abs)
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

// WorkTreeRoot returns the root of the work tree that the current directory is in, or the current directory if it is in none.
func WorkTreeRoot() (string, error) {
	here, err := filepath.Abs("")
	return WorkTreeRootOf(here), err
}

// WorkTreeRootOf returns the nearest directory at or above dir that holds .git, or dir if there is none.
func WorkTreeRootOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// PathOf returns a directory's slash-separated path in the repository, "" for its root.
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
		return "", &failure.Error{Message: abs + " is not in the work tree " + top, Err: err}
	case rel == ".":
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// SplitExisting splits a path into the part that exists and the part below it that does not.
func SplitExisting(at string) (there, gone string) {
	for there = at; there != ""; there, gone = filepath.Dir(there), filepath.Join(filepath.Base(there), gone) {
		if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) || there == filepath.Dir(there) {
			break
		}
	}
	return there, gone
}
