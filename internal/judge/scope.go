package judge

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// noteScope adds a note to the report of a rejected commit if the commit rewrites only unpublished entries: with the setting append_only.scope: published,
// the commit hook would accept that. If nothing has ever been published, there is no note: the setting would protect no entry.
func noteScope(ctx context.Context, s *session.Session, head string, report *finding.Report) error {
	if s.Opts.Mode != preCommit || head == "" || s.Opts.Policy.Scope == policy.Published || !rewrites(report) {
		return nil
	}
	published, err := newestPublished(ctx, s, head)
	if err != nil || len(published) == 0 || slices.Contains(published, head) {
		return err
	}
	opts := s.Opts
	opts.Heads = []string{head}
	if r := gate.Pending(ctx, s.Repo, published, opts); r.Failure == nil && !rewrites(r) {
		report.Examined.Notes = append(report.Examined.Notes,
			"what was rewritten is on no remote-tracking branch; a person may set append_only.scope: published in "+policy.File+": then entries may be edited until they are pushed")
	}
	return nil
}

// rewrites reports whether an error in a report says that a log was rewritten.
func rewrites(r *finding.Report) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return f.Severity == finding.SeverityError && strings.HasPrefix(f.Rule, "append-only/") && f.EditFrom != ""
	})
}
