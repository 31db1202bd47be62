package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// ForkRun is divergence/run: two branches both started a new run.
var ForkRun = rule.New("divergence/run", finding.SeverityError, finding.StageHistory, rule.On(checkForkRun))

func checkForkRun(v *subject.WorkspaceFork, r *rule.Reporter) {
	if !v.BothChanged(subject.CurrentRun) {
		return
	}
	target, _ := subject.CurrentRun(v.Target)
	head, _ := subject.CurrentRun(v.Head)
	r.Add(finding.Finding{
		Path: small.Handoff.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s each started a run since they parted: %.12s… and %.12s…", v.TargetName, v.HeadName, target, head),
		Fix:     "let one run end before the other begins; or merge explicitly, and regenerate the handoff for a run that follows both",
	})
}
