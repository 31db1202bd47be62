package process

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
)

// Escalated is lane/escalated-without-record.
var Escalated = rule.New("lane/escalated-without-record", finding.SeverityError, finding.StageHistory, rule.On(func(s *subject.LaneChange, r *rule.Reporter) {
	from, to := s.StrictestAt[s.Head], s.ClaimAt[s.Head]
	recorded := s.JobSwitched || slices.ContainsFunc(s.SwitchedTo, func(l lane.Lane) bool { return !to.Lane.Less(l) })
	if !to.Lane.Less(from.Lane) || recorded {
		return
	}
	r.Add(finding.Finding{
		Commit: to.Commit, Parent: from.Commit, Path: s.Log, Subject: string(from.Lane) + " " + string(to.Lane),
		Message: fmt.Sprintf("commit %s lowers the lane to %q from %q (commit %s), and this change adds no %s entry that says why",
			history.Short(to.Commit), to.Lane, from.Lane, history.Short(from.Commit), lane.SwitchTask),
		Fix: switchCommand(s, to.Lane),
	})
}))
