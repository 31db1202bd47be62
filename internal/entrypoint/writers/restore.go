package writers

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
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

// restoring runs do under the lock of a workspace, with its state.
func restoring(ctx context.Context, req session.Request, with Locking, at, source string, do func(s *session.Session, g *guarding) error) error {
	return lockedFor(ctx, req, with, at, source, func(s *session.Session, held *locked) error {
		g, err := held.lookIn(ctx, s)
		if err != nil {
			return err
		}
		return do(s, g)
	})
}

// lockedFor runs do under the lock of a workspace that a path names, or that is the nearest one on disk or in a commit.
func lockedFor(ctx context.Context, req session.Request, with Locking, at, source string, do func(s *session.Session, held *locked) error) (err error) {
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
	_, err = held.req.InRepository(ctx, "restore", func(s *session.Session) error { return do(s, held) })
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

// Mend makes a commit that nobody else has again, with a log that has lost nothing, and what came after it: see reconcile.Workspace.Mend.
// The workspace is found as in Restore.
func Mend(ctx context.Context, req session.Request, with Locking, o reconcile.MendOptions) (out reconcile.Mended, err error) {
	err = lockedFor(ctx, req, with, "", o.Commit+"^", func(s *session.Session, held *locked) error {
		for i, file := range o.Files {
			if o.Files[i], err = fileAt(s, req.Dir, file); err != nil {
				return err
			}
		}
		if err := putBackFirst(ctx, s, held); err != nil {
			return err
		}
		// What the commit itself, or a later one, accepts does not count yet. A first commit has none before it; what else is wrong with the
		// name, Mend says.
		before, none := s.Repo.Resolve(ctx, o.Commit+"^")
		if none != nil {
			before = ""
		}
		if err := s.Trust(ctx, before, o.Commit+"^"); err != nil {
			return err
		}
		w := reconcile.Workspace{Place: s.Repo.Where(), Dir: held.dir, Kept: held.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: req.Now}
		if out, err = w.Mend(ctx, s.Repo, o, req.Environ); err != nil || out.New == out.Old {
			return err
		}
		parents, err := s.ParentsOf(ctx, out.New, nil)
		if err != nil {
			return err
		}
		mark, err := reconcile.MarkOf(ctx, s.Repo, parents)
		if err != nil {
			return err
		}
		return w.Note(mark)
	})
	return out, err
}

// putBackFirst puts back what a writer without the lock has lost, as long as what is noted counts. Where HEAD has no file as its log, nothing
// is noted.
func putBackFirst(ctx context.Context, s *session.Session, held *locked) error {
	head, err := s.Repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	files, err := s.Repo.List(ctx, head, history.At(small.Progress.Path(held.dir)))
	if err != nil || len(files) != 1 || !files[0].Regular() {
		return err
	}
	g, err := held.look(ctx)
	if err == nil {
		_, err = g.putBack()
	}
	return err
}

// fileAt is the path from the root of the work tree of a file that is named in a directory, or from that root. It may be gone.
func fileAt(s *session.Session, dir, name string) (string, error) {
	if path, fromTop := strings.CutPrefix(name, ":/"); fromTop {
		return path, nil
	}
	there, gone := session.NearestThere(filepath.Join(cmp.Or(dir, "."), name))
	path, err := s.PathOf(filepath.Dir(there))
	return filepath.ToSlash(filepath.Join(path, filepath.Base(there), gone)), err
}
