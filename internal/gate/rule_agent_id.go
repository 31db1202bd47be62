package gate

import "fmt"

var ruleAgentID = Rule{
	ID: "ownership/agent-id", Severity: SeverityError, Stage: StageHistory,
	Summary: "an entry names another agent than the commit that records it",
	Why: `With extensions: [agent_id] in the configuration, an entry can say which agent did the work. That is
worth as much as it can be checked: the commit says who made it, in its Small-Agent trailer or, in a
hook, by SMALL_AGENT_ID. An entry that names somebody else was copied from another log, or written
under another's name. Of several such trailers the last one counts, so a squash is one agent's work;
merge several agents' work instead. A commit without agent identity is not judged, and neither are
entries that a merge brings. Correct the entry before it is committed; or commit it as the agent who
did the work.`,
	Wrong: `
-- 1/.small-gate.yml --
version: 1
extensions: [agent_id]
-- 2/COMMIT --
Author: Ada <ada@example.com>

Read the export

Small-Agent: agent-1
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    agent_id: "agent-2"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small-gate.yml --
version: 1
extensions: [agent_id]
-- 2/COMMIT --
Author: Ada <ada@example.com>

Read the export

Small-Agent: agent-1
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    agent_id: "agent-1"
    evidence: "importer reads 1204 rows"
`,
	Work: checkAgentID,
}

func checkAgentID(v *workView, r *reporter) {
	if v.agent == "" {
		return
	}
	for _, e := range v.fresh {
		if e.AgentID == "" || e.AgentID == v.agent {
			continue
		}
		f := v.entryFinding(e)
		f.Message = fmt.Sprintf("%s names agent %q, and the commit is that of %q", entryWords(e), e.AgentID, v.agent)
		f.Fix = "name the agent who did the work, or commit the entry as that agent"
		r.add(f)
	}
}
