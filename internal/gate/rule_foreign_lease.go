package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForeignLease = Rule{
	ID: "lease/foreign", Severity: SeverityError, Stage: StageHistory,
	Summary: "work is recorded on a task that another agent has leased",
	Why: `A lease in the plan says that one agent works on a task until a certain time, so that no second one
begins it too: lease: {agent_id, expires}. Work on it by another agent is done twice, or lost. An agent
is known by SMALL_AGENT_ID in hooks and by the Small-Agent trailer of its commits, or else by its
branch (small/agent-ID); a commit of nobody in particular has no such finding. A lease counts until it
expires, as seen from the entry's own time, and a lease that stood there before counts more than one
that the same commit writes. What a merge brings from its sides was judged there.

Two branches that each give the same task to another agent have both taken it: that is a finding of
this rule too. And a branch small/agent-ID belongs to that agent: the hook keeps others from recording
work on it. Wait until the lease has expired, ask its holder to give it up, or work on another task.`,
	Wrong: `
-- 1/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", lease: {agent_id: "agent-1", expires: "2026-03-01T12:00:00Z"}}
  - {id: "task-2", title: "Write checkpoints"}
-- 2/COMMIT --
Author: Ada <ada@example.com>

Read the export

Small-Agent: agent-2
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
`,
	Right: `
-- 1/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", lease: {agent_id: "agent-1", expires: "2026-03-01T12:00:00Z"}}
  - {id: "task-2", title: "Write checkpoints"}
-- 2/COMMIT --
Author: Ada <ada@example.com>

Write checkpoints

Small-Agent: agent-2
-- 2/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
`,
	Work: checkForeignLease,
	Fork: checkForkLease,
}

func checkForeignLease(v *workView, r *reporter) {
	for _, l := range v.leases {
		f := v.entryFinding(l.entry)
		f.Message = fmt.Sprintf("%s is work of %q on a task that agent %q has leased until %s", entryWords(l.entry), v.agent, l.lease.agent, l.lease.text)
		f.Fix = "wait until the lease has expired, ask its holder to give it up in the plan, or work on another task"
		r.add(f)
	}
	if v.branch == "" || v.agent == v.branch || len(v.leases) > 0 {
		return
	}
	f := v.entryFinding(v.fresh[0])
	f.Message = fmt.Sprintf("%s is work of %q on the branch of agent %q", entryWords(v.fresh[0]), v.agent, v.branch)
	f.Fix = "git switch -c " + shellQuote(AgentBranches+v.agent) + ", and commit there"
	r.add(f)
}

// entryFinding begins a finding about an entry that a commit records.
func (v *workView) entryFinding(e small.Entry) Finding {
	return Finding{Path: small.Progress.Path(v.dir), Line: e.Pos.Line, Column: e.Pos.Column, Entry: refOf(e), EditTo: e.Digest.String()}
}

// checkForkLease finds the tasks of which each branch has given the lease to
// another agent since they parted.
func checkForkLease(v *forkView, r *reporter) {
	target, head := leases(v.target.doc(small.Plan)), leases(v.head.doc(small.Plan))
	tasks, order := tasksOf(v.head.doc(small.Plan))
	for _, id := range order {
		there, here := target[id], head[id]
		if there == nil || here == nil || there.agent == here.agent {
			continue
		}
		taken := true
		for _, w := range v.bases {
			base := leases(w.doc(small.Plan))[id]
			taken = taken && (base == nil || base.agent != there.agent && base.agent != here.agent)
		}
		if !taken {
			continue // one side has kept what was agreed, or has not renewed it
		}
		pos := tasks[id].Get("lease").Pos
		r.add(Finding{
			Path: small.Plan.Path(v.dir), Line: pos.Line, Column: pos.Column, subject: "fork " + id,
			Message: fmt.Sprintf("task %q is leased on both branches: to agent %q on %s, to agent %q on %s", id, there.agent, v.targetName, here.agent, v.headName),
			Fix:     "decide who works on it, and take the other lease out of the plan before you merge",
		})
	}
}
