package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/hookinput"
	"github.com/small-gate/small-gate/internal/publish"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/repository"
)

// Sync puts the current branch's own commits on top of the remote's, judges them as the pre-push hook does, and pushes. Of opts, Remote,
// Branch, Merge, Continue and Abort count. The report is that of the last judgement, nil if there was none.
func Sync(ctx context.Context, req Request, opts publish.Options) (out *publish.Outcome, report *finding.Report, err error) {
	if req.Reader == repository.Auto || req.Reader == "" {
		req.Reader = repository.Git // which is needed anyway
	}
	opts.Environ = req.Environ
	opts.Reconcile = func(ctx context.Context) (*reconcile.Outcome, error) { return Reconcile(ctx, req, reconcile.Options{}) }
	opts.JudgeOwn = func(ctx context.Context, base, head, upstream string) (bool, error) {
		report = req.judge(ctx, "sync", func(s *session) (*finding.Report, error) { return s.ownCommits(ctx, base, head, upstream) })
		return clean(report)
	}
	opts.JudgePush = func(ctx context.Context, push publish.Push) (bool, error) {
		report = req.judge(ctx, "sync", func(s *session) (*finding.Report, error) { return s.onePush(ctx, push) })
		return clean(report)
	}
	if _, err = req.inRepository(ctx, "sync", func(s *session) error {
		opts.Place = s.repo.Where()
		return nil
	}); err != nil {
		return nil, nil, err
	}
	out, err = publish.Run(ctx, opts)
	return out, report, err
}

// clean reports whether a judgement has found nothing wrong; its error is that of a judgement that was not possible.
func clean(report *finding.Report) (bool, error) {
	if report.Failure != nil {
		return false, report.Failure
	}
	return report.ExitStatus() == 0, nil
}

// ownCommits judges what head has and base lacks, under the policy of what it is to be pushed on top of.
func (s *session) ownCommits(ctx context.Context, base, head, upstream string) (*finding.Report, error) {
	head, err := s.commit(ctx, head)
	if err == nil {
		err = s.trust(ctx, upstream, "the remote's branch")
	}
	if err != nil {
		return nil, err
	}
	return s.checkAdded(ctx, head, gate.Range(ctx, s.repo, base, head, s.opts))
}

// onePush judges a push as the pre-push hook does.
func (s *session) onePush(ctx context.Context, push publish.Push) (*finding.Report, error) {
	known, err := s.knownTo(ctx, push.Remote)
	if err != nil {
		return nil, err
	}
	update := hookinput.RefUpdate{LocalRef: push.Local, LocalID: push.New, Ref: push.Ref, RemoteID: push.Old}
	if update.RemoteID == "" {
		update.RemoteID = "0"
	}
	return s.push(ctx, handover{updates: []hookinput.RefUpdate{update}, remote: push.Remote}, known), nil
}
