package writers

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/worklock"
)

// Locking says how to wait for the lock of a workspace.
type Locking struct {
	// Command is what those who wait are told about this process.
	Command string
	// Wait is how long to wait at most.
	Wait time.Duration
}

// Guarded is what was found wrong around a guarded command.
type Guarded struct {
	// Before was put back before the command: a writer without a guard had changed or lost entries. After was put back after it.
	Before, After []reconcile.Restored
	// Log is the path of the log, from the root of the work tree.
	Log string
	// Behind are entries of the new HEAD that the log lacks or has otherwise, if git has moved the work tree: then nothing is put back.
	Behind []ledger.Entry
	// Conflict says that the log is in conflict, and what resolves it; nil if it is not.
	Conflict *failure.Error
}

// Fine reports whether nothing was found.
func (g Guarded) Fine() bool {
	return len(g.Before)+len(g.After)+len(g.Behind) == 0 && g.Conflict == nil
}

// guarding is the workspace of a directory, and the state of its repository.
type guarding struct {
	reconcile.Workspace
	mark reconcile.Mark
	// head is the log of HEAD, nil if there is none.
	head []byte
	// recorded is the log that the one on disk has to continue, and noted the note of which it is made: see reconcile.Workspace.Recorded.
	recorded, noted []byte
	// opts are the options of a judgement.
	opts run.Options
	// conflict says that the log is in conflict, and what resolves it; nil if it is not.
	conflict *failure.Error
}

// Guard runs a command under the lock of the workspace in the request's directory or the nearest above it, and undoes what it does to
// the log's old entries. The command gets the environment that do is given. An error of do is returned, and what was found besides.
func Guard(ctx context.Context, req session.Request, with Locking, do func(environ []string) error) (out Guarded, err error) {
	err = guarded(ctx, req, "guard", with, func(held *locked, g *guarding, before []reconcile.Restored) error {
		out.Before, out.Log = before, g.Log()
		old, err := g.Read()
		if err != nil {
			return err
		}
		failed := do(held.Environ(req.Environ))
		ctx := context.WithoutCancel(ctx) // what was begun is looked at, even after Ctrl-C
		held.began = &reconcile.Note{Dir: g.Dir, Mark: g.mark, Log: old}
		now, err := held.look(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		out.Conflict = now.conflict
		if now.noted == nil {
			out.Behind, err = now.behind()
		} else {
			out.After, err = now.putBack()
		}
		return errors.Join(failed, err, now.Note(now.mark))
	})
	return out, err
}

// guarded takes the lock, puts back what a writer without a guard has changed or lost, and has do do the rest.
func guarded(ctx context.Context, req session.Request, mode string, with Locking, do func(*locked, *guarding, []reconcile.Restored) error) (err error) {
	held, err := lock(ctx, req, mode, with, workspaceAbove)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	g, err := held.look(ctx)
	if err != nil {
		return err
	}
	before, err := g.putBack()
	if err != nil {
		return err
	}
	return do(held, g, before)
}

// workspaceAbove is the directory of the workspace in the request's directory or the nearest above it, up to the root of the work tree.
func workspaceAbove(s *session.Session) (string, error) {
	return nearest(s, func(dir string) (bool, error) { return onDisk(s, dir), nil })
}

// onDisk reports whether a directory of the work tree has a workspace.
func onDisk(s *session.Session, dir string) bool {
	info, err := os.Lstat(filepath.Join(s.Repo.Where().Top, dir, small.Dir))
	return err == nil && info.IsDir()
}

// nearest is the nearest directory that has a workspace, from the request's up to the root of the work tree.
func nearest(s *session.Session, has func(dir string) (bool, error)) (string, error) {
	dir, err := s.PathOf(s.Req.Dir)
	if err != nil {
		return "", err
	}
	for ; ; dir = path.Dir("/" + dir)[1:] {
		if found, err := has(dir); err != nil || found {
			return dir, err
		}
		if dir == "" {
			return "", &failure.Error{
				Message: "there is no .small/ directory here or above",
				Remedy:  "if it was deleted: `small-hook restore`; else change into a workspace, or name its directory with --dir; a person makes a new one with small init --intent, and what it is for",
			}
		}
	}
}

// locked is a workspace under its lock.
type locked struct {
	*worklock.Held
	// req is the request, in the root of the work tree: a command may take the directory away in which it began.
	req       session.Request
	mode, dir string
	// began is the log when a guarded command began, and counts as the note then.
	began *reconcile.Note
}

// lock takes the lock of the workspace that find finds.
func lock(ctx context.Context, req session.Request, mode string, with Locking, find func(s *session.Session) (dir string, err error)) (*locked, error) {
	out := &locked{req: req, mode: mode}
	var place githistory.Place
	_, err := req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		place = s.Repo.Where()
		if _, err := place.WorkTree(); err != nil {
			return err
		}
		out.dir, err = find(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.req.Dir = place.Top
	out.Held, err = worklock.Take(ctx, worklock.Request{
		CommonDir: place.CommonDir, Workspace: filepath.Join(place.Top, filepath.FromSlash(out.dir)),
		Command: with.Command, Wait: with.Wait, Environ: req.Environ, Now: req.Now,
	})
	return out, err
}

// look finds out what a guarded command finds, and what it leaves.
func (l *locked) look(ctx context.Context) (g *guarding, err error) {
	_, err = l.req.InRepository(ctx, l.mode, func(s *session.Session) (err error) {
		if g, err = l.lookIn(ctx, s); err == nil {
			g.conflict, err = g.Conflict(ctx, s.Repo, l.req.Environ)
		}
		return err
	})
	return g, err
}

func (l *locked) lookIn(ctx context.Context, s *session.Session) (*guarding, error) {
	head, parents, err := s.TrustHead(ctx, nil)
	if err != nil {
		return nil, err
	}
	g := &guarding{opts: s.Opts}
	g.Workspace = reconcile.Workspace{
		Place: s.Repo.Where(), Dir: l.dir, Kept: l.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: l.req.Now,
	}
	if g.mark, err = reconcile.MarkOf(ctx, s.Repo, parents); err != nil {
		return nil, err
	}
	if head != "" {
		if g.head, _, err = githistory.ReadFile(ctx, s.Repo, head, g.Log(), g.Limits.FileSize()); err != nil {
			return nil, err
		}
	}
	last := l.began
	if last == nil {
		noted, err := g.Noted()
		if err != nil {
			return nil, err
		}
		last = &noted
	}
	g.recorded, g.noted, err = g.Recorded(ctx, s.Repo, *last, g.mark, g.head)
	return g, err
}

func (g *guarding) inConflict() bool { return g.conflict != nil }

// putBack puts back what was recorded. A log that cannot be read has recorded nothing.
func (g *guarding) putBack() ([]reconcile.Restored, error) {
	if g.inConflict() {
		return nil, nil // both sides' entries are in the conflict, which `reconcile` resolves
	}
	if sound, _ := ledger.ReadLog(g.recorded, g.Limits); sound == nil {
		return nil, nil
	}
	done, err := g.Restore(g.recorded, g.Accepts)
	if err != nil || done.Text == nil {
		return nil, err
	}
	return []reconcile.Restored{done}, nil
}

// behind are the entries of HEAD that the log lacks or has otherwise.
func (g *guarding) behind() ([]ledger.Entry, error) {
	head, _ := ledger.ReadLog(g.head, g.Limits)
	if g.inConflict() || head == nil || head.Len() == 0 {
		return nil, nil
	}
	file, err := g.Read()
	if err != nil {
		return nil, err
	}
	found, err := splice.PutBackOf(g.head, file, g.Accepts, g.Now, g.Limits)
	switch {
	case err != nil:
		return nil, &failure.Error{Message: g.Log() + ": " + err.Error(), Err: err}
	case found.Text == nil:
		return nil, nil
	case len(found.Lost) == 0:
		return head.Entries[head.Len()-1:], nil // only the order is another
	}
	return found.Lost, nil
}
