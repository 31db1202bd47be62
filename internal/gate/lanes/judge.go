package lanes

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
)

// Judge compares each change with the lane that it claims. The report has the strictest.
func Judge(ctx context.Context, r *run.Run) error {
	var strictest *subject.LaneChange
	for _, s := range r.Scope.Lanes {
		if !s.Claimed() {
			continue
		}
		if err := (laneFinder{r}).examine(ctx, s); err != nil {
			return err
		}
		if strictest == nil || strictest.Claim.Lane.Less(s.Claim.Lane) {
			strictest = s
			r.Collector.Report.Lane = s.Report
		}
		s.Commit = s.Head
		if len(s.Bases) > 0 {
			s.Parent = s.Bases[0]
		}
		r.Collector.Judge(s)
	}
	return nil
}
