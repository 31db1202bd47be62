package run

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/policy"
)

// NotePolicy notes that a commit edits the configuration. A merge does if its configuration differs from each
// parent's. The index is compared with HEAD alone, whose configuration is the trusted one. In a whole history
// edits of the configuration are no change.
func (s *Scope) NotePolicy(n history.Commit, changes [][]history.Change) {
	if s.Whole {
		return
	}
	if n.ID == history.Index {
		changes = changes[:1]
	}
	var edit history.Change
	for _, edge := range changes {
		at := slices.IndexFunc(edge, func(c history.Change) bool { return c.Path == policy.File })
		if at < 0 {
			return
		}
		edit = edge[at]
	}
	s.policyChange = edit
}

// JudgePolicy judges the configuration and how it was applied. Only a whole history shows that a waiver excuses
// nothing.
func JudgePolicy(_ context.Context, r *Run) error {
	v := &subject.Policy{
		Place: rule.Place{Commit: r.Scope.Tip.ID}, Policy: r.Source.Policy,
		Changed: r.Scope.policyChange, Mismatched: r.Source.Mismatched, Unions: r.Scope.unions,
	}
	for i, w := range r.Source.Policy.Waivers {
		switch {
		case w.Expired(r.Source.Now):
			v.Expired = append(v.Expired, w)
		case r.Scope.Whole && !r.Collector.used[i]:
			v.Unused = append(v.Unused, w)
		}
	}
	r.Collector.Judge(v)
	return nil
}
