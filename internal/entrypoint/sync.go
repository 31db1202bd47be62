package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/hookinput"
)

// syncMode is what the reports of sync are called.
const syncMode = "sync"

// SyncedCommits judges what head has and base lacks, under the policy of what it is to be pushed on top of.
func SyncedCommits(ctx context.Context, req session.Request, base, head, upstream string) *finding.Report {
	return req.Judge(ctx, syncMode, func(s *session.Session) (*finding.Report, error) {
		head, err := s.Commit(ctx, head)
		if err == nil {
			err = s.Trust(ctx, upstream, "the remote's branch")
		}
		if err != nil {
			return nil, err
		}
		return s.CheckAdded(ctx, head, gate.Range(ctx, s.Repo, base, head, s.Opts))
	})
}

// SyncedPush judges a push of one ref to a remote as the pre-push hook does.
func SyncedPush(ctx context.Context, req session.Request, remote string, update hookinput.RefUpdate) *finding.Report {
	return req.Judge(ctx, syncMode, func(s *session.Session) (*finding.Report, error) {
		return pushTo(ctx, s, handover{updates: []hookinput.RefUpdate{update}, remote: remote})
	})
}
