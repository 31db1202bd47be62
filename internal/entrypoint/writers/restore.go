package writers

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Restore puts back what the log of a workspace has lost since the last commit, keeps or discards what is new, and stages it: see
// reconcile.Workspace.RestoreFrom. The log is at a path, which may be that of its workspace; without one, the workspace is the one in the
// request's directory or the nearest above it; if that has lost nothing, the first one of HEAD that has. It may be gone from the disk. It
// needs git, which does the staging.
func Restore(ctx context.Context, req session.Request, with Locking, at, source string, discard bool) (out reconcile.Restored, err error) {
	restore := func(at string) (out reconcile.Restored, err error) {
		err = restoring(ctx, req, with, at, source, func(s *session.Session, g *guarding) error {
			if out, err = g.RestoreFrom(ctx, s.Repo, source, g.noted, discard, req.Environ); err != nil {
				return err
			}
			return g.Note(g.mark)
		})
		return out, err
	}
	out, err = restore(at)
	if err != nil || out.Done() || at != "" || req.Dir != "" || discard {
		return out, err
	}
	logs, err := committedLogs(ctx, req)
	for _, log := range logs {
		if other, err := restore(log); err != nil || other.Done() {
			return other, err
		}
	}
	return out, err
}

// committedLogs are the absolute paths of the logs in HEAD.
func committedLogs(ctx context.Context, req session.Request) (logs []string, err error) {
	_, err = req.InRepository(ctx, "restore", func(s *session.Session) error {
		logs = nil
		head, err := s.Repo.Head(ctx)
		if err != nil || head == "" {
			return err
		}
		files, err := s.Repo.List(ctx, head, history.Workspaces())
		for _, f := range files {
			if _, name, in := small.SplitPath(f.Path); in && name == small.Progress.FileName() {
				logs = append(logs, filepath.Join(s.Repo.Where().Top, filepath.FromSlash(f.Path)))
			}
		}
		return err
	})
	return logs, err
}

// restoring runs do under the lock of a workspace.
func restoring(ctx context.Context, req session.Request, with Locking, at, source string, do func(s *session.Session, g *guarding) error) (err error) {
	req = withGit(req)
	req.Dir = session.WorkspaceRoot(req.Dir)
	if there, gone := session.NearestThere(req.Dir); gone != "" {
		req.Dir, at = there, filepath.Join(gone, at)
	}
	held, err := lock(ctx, req, "restore", with, func(s *session.Session) (string, error) {
		has := committed(ctx, s, source)
		if at == "" {
			return nearest(s, has)
		}
		dir, err := workspaceAt(s, at)
		if err != nil {
			return "", err
		}
		if there, err := has(dir); err != nil || there {
			return dir, err
		}
		return "", &failure.Error{Message: "there is no workspace in " + wording.Printable(at) + ", and none in the commit", Remedy: "name a workspace or its log"}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	_, err = held.req.InRepository(ctx, "restore", func(s *session.Session) error {
		g, err := held.lookIn(ctx, s)
		if err != nil {
			return err
		}
		return do(s, g)
	})
	return err
}

// workspaceAt is the directory of the workspace that a path names: that of its log, its .small, or its own. It may be gone.
func workspaceAt(s *session.Session, name string) (string, error) {
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.Req.Dir, at)
	}
	if filepath.Base(at) == small.Progress.FileName() {
		at = filepath.Dir(at)
	}
	there, gone := session.NearestThere(session.WorkspaceRoot(at))
	dir, err := s.PathOf(there)
	return path.Join(dir, filepath.ToSlash(gone)), err
}

// committed reports whether a workspace is in a directory, on disk or in a commit, HEAD if none is named.
func committed(ctx context.Context, s *session.Session, source string) func(dir string) (bool, error) {
	return func(dir string) (bool, error) {
		if onDisk(s, dir) {
			return true, nil
		}
		id, err := s.Repo.Head(ctx)
		if source != "" {
			id, err = s.Commit(ctx, source)
		}
		if err != nil || id == "" {
			return false, err
		}
		files, err := s.Repo.List(ctx, id, history.At(small.Progress.Path(dir)))
		return len(files) > 0, err
	}
}

// RestoredLeases is what RestoreLeases has written.
type RestoredLeases struct {
	// Plan is the path of the plan, from the root of the work tree, and Tasks those whose leases are back.
	Plan  string
	Tasks []string
}

// RestoreLeases puts the leases of others that the plan in a commit has, HEAD's if none is named, back into the plan on disk, in one step,
// and stages it. The workspace is found as in Restore.
func RestoreLeases(ctx context.Context, req session.Request, with Locking, at, source string) (out RestoredLeases, err error) {
	err = restoring(ctx, req, with, at, source, func(s *session.Session, g *guarding) error {
		id, err := s.Commit(ctx, cmp.Or(source, "HEAD"))
		if err != nil {
			return err
		}
		disk, err := directory.Open(g.Place.Top)
		if err != nil {
			return err
		}
		plan, tasks, err := gate.RestoreLeases(ctx, disk, s.Tree, id, g.Dir, req.Agent(), s.Opts)
		out = RestoredLeases{Plan: plan.Path, Tasks: tasks}
		if err != nil || len(tasks) == 0 {
			return err
		}
		return g.Rewrite(ctx, plan.Path, plan.Content, req.Environ)
	})
	return out, err
}
