package edit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/git/hookinput"
	"github.com/small-gate/small-gate/internal/git/repository"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	publish "github.com/small-gate/small-gate/internal/write/sync"
)

// Sync puts the current branch's own commits on top of the remote's, judges them as the pre-push hook does, and pushes. Only the last step,
// which changes the work tree, holds the locks of all workspaces and those of the protocol's own program. Of opts it uses Remote, Branch and
// Merge. The report is that of the last judgement, nil if there was none.
func Sync(ctx context.Context, req session.Request, locking Locking, opts publish.Options) (out *publish.Outcome, report *finding.Report, err error) {
	judged := req // judging a plain repository needs no git
	req = withGit(req)
	opts.Environ = req.Environ
	opts.Combining = func(ctx context.Context, trusted, head string, do func(*reconcile.Combiner) error) error {
		return withMergePolicy(ctx, req, "sync", trusted, reconcile.Options{}, func(repo repository.Repository, mergeOpts reconcile.Options) error {
			c, err := reconcile.NewCombiner(ctx, repo, mergeOpts, head)
			if err != nil {
				return err
			}
			return do(c)
		})
	}
	opts.Locked = func(ctx context.Context, do func(context.Context) error) error {
		return withAllLocks(ctx, req, "sync", locking, func([]*lockedWorkspace) error { return do(ctx) })
	}
	opts.JudgeOwn = func(ctx context.Context, base, head, upstream string) (bool, error) {
		report = judge.CommitsToSync(ctx, judged, base, head, upstream)
		return isClean(report)
	}
	opts.JudgePush = func(ctx context.Context, push publish.Push) (bool, error) {
		update := hookinput.RefUpdate{LocalRef: push.Local, LocalID: push.New, Ref: push.Ref, RemoteID: cmp.Or(push.Old, "0")}
		report = judge.PushOfSync(ctx, judged, push.Remote, update)
		return isClean(report)
	}
	if _, err := req.InRepository(ctx, "sync", func(s *session.Session) error {
		opts.Place = s.Repo.Where()
		return nil
	}); err != nil {
		return nil, nil, err
	}
	out, err = publish.Run(ctx, opts)
	return out, report, err
}

// withAllLocks runs do under the locks of all workspaces, and then writes the note on each log, which the next guarded command reads. A bare
// repository has no workspaces.
func withAllLocks(ctx context.Context, req session.Request, mode string, locking Locking, do func(locks []*lockedWorkspace) error) (err error) {
	var dirs []string
	if _, err := req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		if s.Repo.Where().Top != "" {
			if dirs, err = s.WorkspaceDirs(ctx); err != nil {
				return err
			}
			// All processes lock in the same order, to avoid deadlocks: the root, whose lock also guards the configuration's logs, is last.
			slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(b, a) })
			if _, _, err = s.TrustHead(ctx, nil); err == nil && len(s.Opts.Policy.Logs) > 0 && !slices.Contains(dirs, "") {
				dirs = append(dirs, "")
			}
		}
		return err
	}); err != nil {
		return err
	}
	var locks []*lockedWorkspace
	defer func() {
		for _, l := range locks {
			err = errors.Join(err, l.Release())
		}
	}()
	for _, dir := range dirs {
		l, err := lockWorkspace(ctx, req, mode, locking, func(*session.Session) (string, error) { return dir, nil })
		if err != nil {
			return err
		}
		locks = append(locks, l)
	}
	err = do(locks)
	ctx = context.WithoutCancel(ctx)
	for _, l := range locks {
		g, noteErr := l.readState(ctx)
		if noteErr == nil {
			noteErr = g.WriteNote(g.mark)
		}
		err = errors.Join(err, noteErr)
	}
	return err
}

// isClean reports whether a judgement found nothing wrong. The error says why the judgement was impossible.
func isClean(report *finding.Report) (bool, error) {
	if report.Failure != nil {
		return false, report.Failure
	}
	return report.ExitStatus() == 0, nil
}
