package gate

import "fmt"

var ruleAgentID = Rule{
	ID: "ownership/agent-id", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkAgentID)},
}

func checkAgentID(v *CommitWork, r *Reporter) {
	if v.agent == "" {
		return
	}
	for _, e := range v.fresh {
		if e.AgentID == "" || e.AgentID == v.agent {
			continue
		}
		f := entryFinding(v, e)
		f.Message = fmt.Sprintf("%s names agent %q, and the commit is that of %q", entryWords(e), e.AgentID, v.agent)
		f.Fix = "name the agent who did the work, or commit the entry as that agent"
		r.Add(f)
	}
}
