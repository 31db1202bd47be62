package writers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/hookinput"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/publish"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/small"
)

// Sync puts the current branch's own commits on top of the remote's, judges them as the pre-push hook does, and pushes, under the locks
// of all workspaces. Of opts, Remote, Branch, Merge, Continue and Abort count. The report is that of the last judgement, nil if there was
// none.
func Sync(ctx context.Context, req session.Request, with Locking, opts publish.Options) (out *publish.Outcome, report *finding.Report, err error) {
	req = withGit(req)
	opts.Reconcile = func(ctx context.Context) (*reconcile.Outcome, error) {
		inside := req
		inside.Environ = opts.Environ // with the locks that are held
		return Reconcile(ctx, inside, with, reconcile.Options{})
	}
	opts.JudgeOwn = func(ctx context.Context, base, head, upstream string) (bool, error) {
		report = entrypoint.SyncedCommits(ctx, req, base, head, upstream)
		return clean(report)
	}
	opts.JudgePush = func(ctx context.Context, push publish.Push) (bool, error) {
		update := hookinput.RefUpdate{LocalRef: push.Local, LocalID: push.New, Ref: push.Ref, RemoteID: cmp.Or(push.Old, "0")}
		report = entrypoint.SyncedPush(ctx, req, push.Remote, update)
		return clean(report)
	}
	var locks []*locked
	opts.Continues = continuesLog
	opts.Bring = func(ctx context.Context, path string, base, log []byte) (int, error) {
		dir, _ := small.WorkspaceOf(path)
		at := slices.IndexFunc(locks, func(l *locked) bool { return l.dir == dir })
		if at < 0 {
			return 0, &failure.Error{Message: "its workspace is not here"}
		}
		g, err := locks[at].look(ctx)
		if err != nil {
			return 0, err
		}
		return g.Bring(base, log)
	}
	err = lockAll(ctx, req, "sync", with, func(place githistory.Place, all []*locked, environ []string) (err error) {
		opts.Place, opts.Environ, locks = place, environ, all
		out, err = publish.Run(ctx, opts)
		return err
	})
	return out, report, err
}

// lockAll runs do under the locks of all workspaces, and notes what it leaves: that is what the next guarded command begins with. The
// environment is for what runs under the locks. In a bare repository there are none.
func lockAll(ctx context.Context, req session.Request, mode string, with Locking, do func(place githistory.Place, locks []*locked, environ []string) error) (err error) {
	var place githistory.Place
	var dirs []string
	if _, err := req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		if place = s.Repo.Where(); place.Top != "" {
			dirs, err = s.WorkspaceDirs(ctx)
			slices.Sort(dirs) // so that two that lock all do not block each other
		}
		return err
	}); err != nil {
		return err
	}
	var locks []*locked
	defer func() {
		for _, l := range locks {
			err = errors.Join(err, l.Release())
		}
	}()
	environ := req.Environ
	for _, dir := range dirs {
		l, err := lock(ctx, req, mode, with, func(*session.Session) (string, error) { return dir, nil })
		if err != nil {
			return err
		}
		locks, environ = append(locks, l), l.Environ(environ)
	}
	err = do(place, locks, environ)
	ctx = context.WithoutCancel(ctx)
	for _, l := range locks {
		g, failed := l.look(ctx)
		if failed == nil {
			failed = g.Note(g.mark)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// continuesLog reports whether a log is another one with new entries after it.
func continuesLog(base, log []byte) bool {
	before, _ := ledger.ReadLog(base, small.Limits{})
	after, _ := ledger.ReadLog(log, small.Limits{})
	return before != nil && after != nil && after.Len() > before.Len() && after.Extends(before.Ledger)
}

// clean reports whether a judgement has found nothing wrong; its error is that of a judgement that was not possible.
func clean(report *finding.Report) (bool, error) {
	if report.Failure != nil {
		return false, report.Failure
	}
	return report.ExitStatus() == 0, nil
}
