package commits

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// ForeignLease is lease/foreign: work is recorded on a task that another agent has leased.
var ForeignLease = rule.New("lease/foreign", finding.SeverityError, finding.StageHistory, rule.On(checkForeignLease), rule.On(checkForkLease))

func checkForeignLease(v *subject.CommitWork, r *rule.Reporter) {
	for _, l := range v.ForeignLeases {
		f := entryFinding(v, l.Entry)
		f.Message = fmt.Sprintf("agent %q recorded %s on a task that agent %q has leased until %s", v.Agent, ledger.Describe(l.Entry), l.Lease.Agent, l.Lease.Text)
		f.Fix = fmt.Sprintf("wait until the lease expires, ask its holder to give it up in the plan, or work on another task; "+
			"if agent %s recorded the entry and you only bring it in, let the commit's message say so, in a line such as Co-authored-by: %s",
			wording.Quote(l.Lease.Agent), strings.Trim(wording.Quote(l.Lease.Agent), `"`))
		r.Add(f)
	}
	if v.BranchOwner == "" || v.Agent == v.BranchOwner || len(v.ForeignLeases) > 0 {
		return
	}
	f := entryFinding(v, v.NewEntries[0])
	f.Message = fmt.Sprintf("agent %q recorded %s on the branch of agent %q", v.Agent, ledger.Describe(v.NewEntries[0]), v.BranchOwner)
	f.Fix = "run `git switch -c " + wording.ShellWord(history.AgentBranches+v.Agent) + "` and commit there"
	r.Add(f)
}

func entryFinding(v *subject.CommitWork, e ledger.Entry) finding.Finding {
	return finding.Finding{Path: small.Progress.Path(v.Dir), Line: e.Pos.Line, Column: e.Pos.Column, Entry: finding.RefOf(e), EditTo: e.Digest.String()}
}

// checkForkLease finds the tasks that the branches have leased to different agents since they parted.
func checkForkLease(v *subject.WorkspaceFork, r *rule.Reporter) {
	target, head := subject.Leases(v.Target.Doc(small.Plan)), subject.Leases(v.Head.Doc(small.Plan))
	tasks, order := subject.TasksOf(v.Head.Doc(small.Plan))
	for _, id := range order {
		there, here := target[id], head[id]
		if there == nil || here == nil || there.Agent == here.Agent {
			continue
		}
		taken := true
		for _, w := range v.Bases {
			base := subject.Leases(w.Doc(small.Plan))[id]
			taken = taken && (base == nil || base.Agent != there.Agent && base.Agent != here.Agent)
		}
		if !taken {
			continue // one side has kept what was agreed, or has not renewed it
		}
		pos := tasks[id].Get("lease").Pos
		r.Add(finding.Finding{
			Path: small.Plan.Path(v.Dir), Line: pos.Line, Column: pos.Column, Subject: "fork " + id,
			Message: fmt.Sprintf("task %q is leased on both branches: to agent %q on %s, to agent %q on %s", id, there.Agent, v.TargetName, here.Agent, v.HeadName),
			Fix:     "decide who works on it, and remove the other lease from the plan before you merge",
		})
	}
}
