package entrypoint

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/repository"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/worktree"
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

// of is the opener of what is meant: files on disk need no git.
func (w What) of(req Request) opener {
	switch {
	case w.Staged && w.Ref != "", w.Against != "" && (w.Staged || w.Ref != ""):
		return func(context.Context, string, func(*session) error) (string, error) {
			return "", &failure.Error{Message: "--staged, --ref and --against exclude each other", Remedy: "give one of them"}
		}
	case w.Staged || w.Ref != "" || w.Against != "":
		return req.inRepository
	}
	return req.inDirectory
}

// place is the directory to look at in a session's tree. label names the revision for people.
type place struct{ revision, label, dir string }

// locate finds what is meant. On disk the request's directory is the whole tree.
func (s *session) locate(ctx context.Context, w What) (at place, err error) {
	switch {
	case s.repo == nil:
		return place{}, nil
	case w.Staged:
		at = place{revision: history.Index, label: "the index"}
	default:
		at.label = w.Ref
		if at.revision, err = s.commit(ctx, w.Ref); err != nil {
			return at, err
		}
	}
	at.dir, err = pathInRepository(s.repo, s.req.Dir)
	return at, err
}

// Check judges the workspace of one directory, or of the nearest above the current one, as its files are on disk, in the index or in a
// commit.
func Check(ctx context.Context, req Request, what What) *finding.Report {
	if what.Recursive {
		req.Dir = workspaceRoot(req.Dir)
	} else {
		req = req.above()
		req.Workspace = cmp.Or(req.Workspace, "root")
	}
	judge := gate.Check
	if what.Recursive {
		judge = gate.CheckAll
	}
	return req.judgeIn(ctx, "check", what.of(req), func(s *session) (*finding.Report, error) {
		if what.Against != "" {
			return s.checkAgainst(ctx, what)
		}
		at, err := s.locate(ctx, what)
		if err == nil {
			err = s.trustChecked(ctx, at)
		}
		if err != nil {
			return nil, err
		}
		return judge(ctx, s.tree, at.revision, at.dir, s.opts), nil
	})
}

// checkAgainst judges the files on disk, and what has become of the logs since a commit, whose policy it takes.
func (s *session) checkAgainst(ctx context.Context, what What) (*finding.Report, error) {
	base, err := s.commit(ctx, what.Against)
	if err != nil {
		return nil, err
	}
	if err := s.trust(ctx, base, what.Against); err != nil {
		return nil, err
	}
	files, err := s.withFiles()
	if err != nil {
		return nil, err
	}
	dir, err := pathInRepository(s.repo, s.req.Dir)
	if err != nil {
		return nil, err
	}
	return gate.CheckAgainst(ctx, files, base, dir, what.Recursive, s.opts), nil
}

// withFiles is the repository, with the files of its work tree as a revision.
func (s *session) withFiles() (*worktree.History, error) {
	top := s.repo.Where().Top
	if top == "" {
		return nil, &failure.Error{Message: "a bare repository has no work tree to judge", Remedy: "run this in a clone"}
	}
	return worktree.Open(s.repo, top, s.opts.Limits().FileSize())
}

// trustChecked takes the policy from what is checked.
func (s *session) trustChecked(ctx context.Context, at place) error {
	if s.repo != nil {
		return s.trust(ctx, at.revision, at.label)
	}
	dir, err := filepath.Abs(s.req.Dir)
	if err != nil {
		return err
	}
	root := repositoryRoot(dir)
	s.opts.Part = dir != root
	if s.req.Config != "" {
		return s.useFile(s.req.Config)
	}
	return s.useRoot(root)
}

// workspaceRoot is the directory that holds the workspace of dir, which may be the .small directory itself.
func workspaceRoot(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != small.Dir {
		return dir // without a working directory, opening it fails and says so
	}
	return filepath.Join(dir, "..")
}

// above is the request for the nearest directory that holds a workspace, from the current one up to the work tree's root, unless the
// request names a directory.
func (r Request) above() Request {
	if r.Dir != "" {
		r.Dir = workspaceRoot(r.Dir)
		return r
	}
	abs, err := filepath.Abs("")
	if err != nil {
		return r // opening the current directory fails and says so
	}
	root := repositoryRoot(abs)
	for at := abs; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, small.Dir)); err == nil && info.IsDir() {
			r.Dir = at
			return r
		}
		if at == root {
			return r
		}
	}
}

// repositoryRoot is the nearest directory at or above dir that holds .git, or dir if there is none.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// pathInRepository is a directory's slash-separated path in the repository, "" for its root.
func pathInRepository(repo repository.Repository, dir string) (string, error) {
	top := repo.Where().Top
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
