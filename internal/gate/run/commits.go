package run

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxCommits is how many commits a report describes.
const maxCommits = 300

// DescribeCommits reads who wrote the commits that a report's findings name, when and why. Without findings it reads
// nothing.
func DescribeCommits(ctx context.Context, h history.History, r *finding.Report) error {
	known := map[string]bool{"": true}
	for _, c := range r.Commits {
		known[c.ID] = true
	}
	for _, f := range slices.Concat(r.Findings, r.Waived) {
		if known[f.Commit] || len(r.Commits) == maxCommits {
			continue
		}
		known[f.Commit] = true
		s, err := h.Signature(ctx, f.Commit)
		if err != nil {
			return err
		}
		r.Commits = append(r.Commits, finding.Commit{ID: f.Commit, Author: wording.Clip(s.Name), Subject: wording.Clip(s.Subject()), Date: s.Date})
	}
	return nil
}
