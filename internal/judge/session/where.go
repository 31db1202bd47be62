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
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/small"
)

// State says which version of the files to judge, the one on disk, in the index or in a commit, and whether to judge all workspaces.
type State struct {
	// Staged is true if the files in the index are judged; Ref names the commit whose files are judged. If neither is set, the files on disk are judged.
	Staged bool
	Ref    string
	// Against names a commit: the logs on disk have to continue its logs. If it is empty, they are not compared with a commit.
	Against string
	// Recursive is true if every workspace at or below the directory is judged, not only one.
	Recursive bool
}

// Opener returns the opener of a session for a state. Files on disk need no repository, unless they are compared with Against. The opener fails if the
// state is contradictory.
func (state State) Opener(req Request) Opener {
	switch {
	case state.Staged && state.Ref != "", state.Against != "" && (state.Staged || state.Ref != ""):
		return func(context.Context, string, func(*Session) error) (string, error) {
			return "", &failure.Error{Message: "--staged, --ref and --against exclude each other", Remedy: "give one of them"}
		}
	case state.Staged || state.Ref != "" || state.Against != "":
		return req.InRepository
	}
	return req.inDirectory
}

// Located is a revision and the path of a directory in it, "" for its root. Label names the revision for people.
type Located struct{ Revision, Label, Dir string }

// Locate finds the revision and the directory to judge. If the session has no repository, both are empty, because the request's directory is the whole
// tree. A state with Against is judged without Locate.
func (s *Session) Locate(ctx context.Context, state State) (at Located, err error) {
	switch {
	case s.Repo == nil:
		return Located{}, nil
	case state.Staged:
		at = Located{Revision: history.Index, Label: "the index"}
	default:
		at.Label = state.Ref
		if at.Revision, err = s.ResolveCommit(ctx, state.Ref); err != nil {
			return at, err
		}
	}
	at.Dir, err = s.PathOf(s.Req.Dir)
	return at, err
}

// WorkspaceRoot returns the directory in which .small lies or would lie: dir, or dir's parent if dir is .small itself.
func WorkspaceRoot(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // if err is set, there is no current directory; opening dir reports the error
	}
	return filepath.Join(dir, "..")
}

// HoldsWorkspace reports whether a directory holds .small, or is .small itself.
func HoldsWorkspace(dir string) bool {
	info, err := os.Stat(filepath.Join(WorkspaceRoot(dir), small.Dir))
	return err == nil && info.IsDir()
}

// AtNearestWorkspace returns the request with another Dir. A Dir that is set becomes its [WorkspaceRoot]. An empty Dir becomes the nearest directory that
// holds a workspace, from the current directory up to the work tree's root; it stays empty if there is none.
func (r Request) AtNearestWorkspace() Request {
	if r.Dir != "" {
		r.Dir = WorkspaceRoot(r.Dir)
		return r
	}
	here, err := githistory.Physical("")
	if err != nil {
		return r // there is no current directory; opening it reports the error
	}
	root := WorkTreeRootOf(here)
	for at := here; ; at = filepath.Dir(at) {
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

// WorkTreeRootOf returns the nearest directory at or above dir that holds .git, or dir if there is none; without symbolic links, if dir exists.
func WorkTreeRootOf(dir string) string {
	if real, err := githistory.Physical(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// PathOf returns a directory's slash-separated path from the root of the work tree: "" for the root, and in a repository without a work tree. It fails if
// the directory does not exist or lies outside the work tree.
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
		return "", &failure.Error{Message: "there is no directory " + dir, Remedy: "name a directory that exists", Err: err}
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot look into " + dir + ": " + err.Error(), Err: err}
	}
	rel, err := filepath.Rel(top, abs)
	switch {
	case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		return "", &failure.Error{Message: abs + " is not in the work tree " + top, Remedy: "name a path in it that leads through no symbolic link out of it", Err: err}
	case rel == ".":
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// SplitExisting splits a path into the part that exists and the part below it that does not, which is empty if the whole path exists.
func SplitExisting(path string) (existing, missing string) {
	for existing = path; existing != ""; existing, missing = filepath.Dir(existing), filepath.Join(filepath.Base(existing), missing) {
		if githistory.MayExist(existing) || existing == filepath.Dir(existing) {
			break
		}
	}
	return existing, missing
}
