package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
)

// judgePolicy judges the configuration and how it was applied. Only a whole history shows that a waiver excuses
// nothing.
func judgePolicy(_ context.Context, r *run.Run) error {
	v := &subject.Policy{
		Place: rule.Place{Commit: r.Scope.Tip.ID}, Policy: r.Source.Policy,
		Changed: r.Scope.PolicyChange, Mismatched: r.Source.Mismatched, Unions: r.Scope.Unions,
	}
	for i, w := range r.Source.Policy.Waivers {
		switch {
		case w.Expired(r.Source.Now):
			v.Expired = append(v.Expired, w)
		case r.Scope.Whole && !r.Collector.Used(i):
			v.Unused = append(v.Unused, w)
		}
	}
	r.Collector.Judge(v)
	return nil
}
