package entrypoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/small"
)

// Restore puts back what the log of a workspace has lost since the last commit, keeps or discards what is new, and stages it: see
// reconcile.Workspace.RestoreFrom. The log is at a path, which may be that of its workspace; without one, the workspace is the one in the
// request's directory or the nearest above it. It may be gone from the disk. It needs git, which does the staging.
func Restore(ctx context.Context, req Request, with Locking, at, source string, discard bool) (out reconcile.Restored, err error) {
	err = req.restoring(ctx, with, at, func(s *session, g *guarding) error {
		if out, err = g.RestoreFrom(ctx, s.repo, source, discard, req.Environ); err != nil {
			return err
		}
		return g.note()
	})
	return out, err
}

// restoring runs do under the lock of a workspace.
func (r Request) restoring(ctx context.Context, with Locking, at string, do func(s *session, g *guarding) error) (err error) {
	r = r.withGit()
	r.Dir = workspaceRoot(r.Dir)
	if there, gone := nearestThere(r.Dir); gone != "" {
		r.Dir, at = there, filepath.Join(gone, at)
	}
	held, err := r.lock(ctx, "restore", with, func(s *session) (string, error) {
		if at != "" {
			return s.workspaceAt(at)
		}
		return s.workspaceAboveOrCommitted(ctx)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	_, err = held.req.inRepository(ctx, "restore", func(s *session) error {
		g, err := held.lookIn(ctx, s)
		if err != nil {
			return err
		}
		return do(s, g)
	})
	return err
}

// workspaceAt is the directory of the workspace that a path names: that of its log, its .small, or its own. It may be gone.
func (s *session) workspaceAt(name string) (string, error) {
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.req.Dir, at)
	}
	if filepath.Base(at) == small.Progress.FileName() {
		at = filepath.Dir(at)
	}
	there, gone := nearestThere(workspaceRoot(at))
	dir, err := pathInRepository(s.repo, there)
	return path.Join(dir, filepath.ToSlash(gone)), err
}

// nearestThere cuts a path in two: the directory that is on the disk, and what is gone of it.
func nearestThere(at string) (there, gone string) {
	for there = at; there != ""; there, gone = filepath.Dir(there), filepath.Join(filepath.Base(there), gone) {
		if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) || there == filepath.Dir(there) {
			break
		}
	}
	return there, gone
}

// workspaceAboveOrCommitted is workspaceAbove, also of a workspace of HEAD that is gone from the disk.
func (s *session) workspaceAboveOrCommitted(ctx context.Context) (string, error) {
	dir, missing := s.workspaceAbove()
	if missing == nil {
		return dir, nil
	}
	head, err := s.repo.Head(ctx)
	if err != nil || head == "" {
		return "", errors.Join(err, missing)
	}
	if dir, err = pathInRepository(s.repo, s.req.Dir); err != nil {
		return "", err
	}
	for {
		files, err := s.repo.List(ctx, head, history.At(small.Progress.Path(dir)))
		if err != nil || len(files) > 0 {
			return dir, err
		}
		if dir == "" {
			return "", missing
		}
		dir = path.Dir("/" + dir)[1:]
	}
}
