package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleForeignLease = Rule{
	ID: "lease/foreign", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkForeignLease), On(checkForkLease)},
}

func checkForeignLease(v *CommitWork, r *Reporter) {
	for _, l := range v.leases {
		f := entryFinding(v, l.entry)
		f.Message = fmt.Sprintf("%s is work of %q on a task that agent %q has leased until %s", entryWords(l.entry), v.agent, l.lease.agent, l.lease.text)
		f.Fix = "wait until the lease has expired, ask its holder to give it up in the plan, or work on another task"
		r.Add(f)
	}
	if v.branch == "" || v.agent == v.branch || len(v.leases) > 0 {
		return
	}
	f := entryFinding(v, v.fresh[0])
	f.Message = fmt.Sprintf("%s is work of %q on the branch of agent %q", entryWords(v.fresh[0]), v.agent, v.branch)
	f.Fix = "git switch -c " + shellQuote(AgentBranches+v.agent) + ", and commit there"
	r.Add(f)
}

// entryFinding begins a finding about an entry that a commit records.
func entryFinding(v *CommitWork, e small.Entry) Finding {
	return Finding{Path: small.Progress.Path(v.dir), Line: e.Pos.Line, Column: e.Pos.Column, Entry: refOf(e), EditTo: e.Digest.String()}
}

// checkForkLease finds the tasks of which each branch has given the lease to
// another agent since they parted.
func checkForkLease(v *WorkspaceFork, r *Reporter) {
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
		r.Add(Finding{
			Path: small.Plan.Path(v.dir), Line: pos.Line, Column: pos.Column, subject: "fork " + id,
			Message: fmt.Sprintf("task %q is leased on both branches: to agent %q on %s, to agent %q on %s", id, there.agent, v.targetName, here.agent, v.headName),
			Fix:     "decide who works on it, and take the other lease out of the plan before you merge",
		})
	}
}
