package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// AgentID is ownership/agent-id: an entry names another agent than the commit that records it.
var AgentID = rule.New("ownership/agent-id", finding.SeverityError, finding.StageHistory, rule.On(checkAgentID))

func checkAgentID(v *subject.CommitWork, r *rule.Reporter) {
	if v.Agent == "" {
		return
	}
	for _, e := range v.NewEntries {
		if e.AgentID == "" || e.AgentID == v.Agent {
			continue
		}
		f := entryFinding(v, e)
		f.Message = fmt.Sprintf("%s names agent %q, but agent %q made the commit", ledger.Describe(e), e.AgentID, v.Agent)
		f.Fix = "name the agent who did the work, or commit the entry as that agent"
		r.Add(f)
	}
}
