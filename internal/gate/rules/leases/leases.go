// Package leases judges who works on a task that the plan has leased to an agent.
package leases

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/commits"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/owner"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about leases of tasks.
var Family = run.Family{
	Name: "leases",
	Rules: []rule.Rule{
		rule.New("lease/foreign", finding.SeverityError, finding.StageHistory, rule.Reading(checkForeignLease), rule.On(checkForkLease)),
		rule.New("lease/dropped", finding.SeverityWarning, finding.StageHistory, rule.Reading(checkDroppedLease)),
		rule.New("lease/malformed", finding.SeverityWarning, finding.StageLint, rule.On(checkMalformedLease)),
	},
}

// lease is an agent's claim on a task of the plan, for a time.
type lease struct {
	agent   string
	expires time.Time
	// text is the expiry as written in the plan, and pos where the plan has the lease.
	text string
	pos  small.Pos
}

// leaseOf reads a task's lease. problem says what is wrong with an invalid one, and at is the wrong value. A task
// with none, or with an empty one, is free.
func leaseOf(task *small.Value) (l *lease, problem string, at *small.Value) {
	v := task.Get("lease")
	if isEmpty(v) {
		return nil, "", nil
	}
	if v.Kind != small.Map {
		return nil, fmt.Sprintf("the lease is %s; a mapping of agent_id and expires is expected", v.Kind), v
	}
	for _, f := range v.Fields {
		if f.Key != "agent_id" && f.Key != "expires" {
			return nil, fmt.Sprintf("unknown key %q in the lease; only agent_id and expires are allowed", f.Key), f.Value
		}
	}
	agent := v.Get("agent_id")
	id, ok := agent.Str()
	switch {
	case agent == nil:
		return nil, "the lease has no agent_id", v
	case !ok:
		return nil, fmt.Sprintf("the lease's agent_id is %s; a string is expected: quote it", agent.Kind), agent
	case strings.TrimSpace(id) == "":
		return nil, "the lease's agent_id is blank", agent
	}
	expires := v.Get("expires")
	text, ok := expires.Str()
	switch {
	case expires == nil:
		return nil, "the lease has no expires", v
	case !ok:
		return nil, fmt.Sprintf("the lease's expires is %s; a string is expected: quote it", expires.Kind), expires
	}
	end, ok := ledger.ParseInstant(text)
	if !ok {
		return nil, fmt.Sprintf("the lease's expires %q is not an RFC 3339 time with a zone", text), expires
	}
	return &lease{agent: strings.TrimSpace(id), expires: end, text: text, pos: v.Pos}, "", nil
}

// isEmpty reports whether a value is absent, null or empty, or holds nothing but nulls.
func isEmpty(v *small.Value) bool {
	null := func(v *small.Value) bool { return v == nil || v.Kind == small.Null }
	return null(v) || v.Kind == small.String && strings.TrimSpace(v.Text) == "" ||
		(v.Kind == small.Map || v.Kind == small.List) &&
			!slices.ContainsFunc(v.Items, func(item *small.Value) bool { return !null(item) }) &&
			!slices.ContainsFunc(v.Fields, func(f small.Field) bool { return !null(f.Value) })
}

// leasesIn returns a plan's valid leases, by task. If tasks share an id, the last lease counts.
func leasesIn(plan *small.Value) map[string]*lease {
	out := map[string]*lease{}
	for _, task := range read.TasksIn(plan) {
		if l, _, _ := leaseOf(task.Value); task.HasID && l != nil {
			out[task.ID] = l
		}
	}
	return out
}

// holds reports whether the lease has not expired at the time of an entry. A time that cannot be read is another
// rule's concern.
func (l *lease) holds(e ledger.Entry) bool {
	t, ok := ledger.ParseInstant(e.Timestamp)
	return ok && t.Before(l.expires)
}

// agentCommit is what the rules need to know about an agent's commit.
type agentCommit struct {
	// owner made the commit.
	owner owner.Owner
	// before are the leases in each parent's plan, by task; plan is the commit's plan, nil if it cannot be read.
	before []map[string]*lease
	plan   *small.Value
}

// readAgentCommit reads the leases around a commit; nil for a person's commit.
func readAgentCommit(ctx context.Context, w *commits.Work) (*agentCommit, error) {
	by, err := w.Agent(ctx)
	if err != nil || by.Agent == "" {
		return nil, err
	}
	v := &agentCommit{owner: by}
	before, plan, err := w.Documents(ctx, small.Plan.Path(w.Dir))
	for _, old := range before {
		v.before = append(v.before, leasesIn(old))
	}
	v.plan = plan
	return v, err
}

// Holder returns the agent that has leased an entry's task in a plan at the time of the entry; empty for nobody.
func Holder(plan *small.Value, e ledger.Entry) string {
	if l := leasesIn(plan)[e.TaskID]; l != nil && l.holds(e) {
		return l.agent
	}
	return ""
}

func checkForeignLease(ctx context.Context, w *commits.Work, r *rule.Reporter) error {
	if len(w.NewEntries) == 0 {
		return nil
	}
	v, err := readAgentCommit(ctx, w)
	if err != nil || v == nil {
		return err
	}
	foreign := false
	for _, e := range w.NewEntries {
		l := v.foreign(e)
		if l == nil {
			continue
		}
		foreign = true
		f := w.EntryFinding(e)
		f.Message = fmt.Sprintf("agent %q recorded %s on a task that agent %q has leased until %s", v.owner.Agent, ledger.Describe(e), l.agent, l.text)
		f.Fix = fmt.Sprintf("wait until the lease expires, ask its holder to give it up in the plan, or work on another task; "+
			"if agent %s recorded the entry and you only bring it in, let the commit's message say so, in a line such as Co-authored-by: %s",
			wording.Quote(l.agent), strings.Trim(wording.Quote(l.agent), `"`)) // Quote escapes the name; the trailer must not have the quotes that it adds
		r.Add(f)
	}
	// A branch small/agent-ID belongs to that agent.
	branch := history.BranchOwner(w.Run.Options.Branch)
	if w.Commit == history.Index && branch != "" && branch != v.owner.Agent && !foreign {
		f := w.EntryFinding(w.NewEntries[0])
		f.Message = fmt.Sprintf("agent %q recorded %s on the branch of agent %q", v.owner.Agent, ledger.Describe(w.NewEntries[0]), branch)
		f.Fix = "run `git switch -c " + wording.ShellWord(history.AgentBranches+v.owner.Agent) + "` and commit there"
		r.Add(f)
	}
	return nil
}

// foreign returns the unexpired lease on an entry's task if its agent did not make the commit; else nil. A lease in a parent
// overrides one that the commit itself writes: nobody takes over a task in the commit that records work on it, and an agent
// that hands one over may record its last work in the same commit. If several parents have leases, one
// of the agent who made the commit counts.
func (v *agentCommit) foreign(e ledger.Entry) *lease {
	var found *lease
	for _, leases := range v.before {
		l := leases[e.TaskID]
		if l != nil && l.holds(e) && (found == nil || v.owner.MadeBy(l.agent)) {
			found = l
		}
	}
	if l := leasesIn(v.plan)[e.TaskID]; found == nil && l != nil && l.holds(e) {
		found = l
	}
	if found != nil && v.owner.MadeBy(found.agent) {
		return nil
	}
	return found
}

// checkForkLease reports tasks that the two branches have leased to different agents since the merge bases.
func checkForkLease(v *read.Fork, r *rule.Reporter) {
	target, head := leasesIn(v.Target.Doc(small.Plan)), leasesIn(v.Head.Doc(small.Plan))
	_, order := read.TasksOf(v.Head.Doc(small.Plan))
	for _, id := range order {
		there, here := target[id], head[id]
		if there == nil || here == nil || there.agent == here.agent {
			continue
		}
		bothNew := true
		for _, w := range v.Bases {
			base := leasesIn(w.Doc(small.Plan))[id]
			bothNew = bothNew && (base == nil || base.agent != there.agent && base.agent != here.agent)
		}
		if !bothNew {
			continue // one side still has the lease of a merge base
		}
		pos := here.pos
		r.Add(finding.Finding{
			Path: small.Plan.Path(v.Dir), Line: pos.Line, Column: pos.Column, Subject: "fork " + id,
			Message: fmt.Sprintf("task %q is leased on both branches: to agent %q on %s, to agent %q on %s", id, there.agent, v.TargetName, here.agent, v.HeadName),
			Fix:     "decide who works on it, and remove the other lease from the plan before you merge",
		})
	}
}

// checkDroppedLease reports another agent's lease that every parent's plan has and the commit's plan lacks, if it had not expired by the
// time of the log's last entry, which is taken for the time of the commit. Other rules report a completed task that is gone, a lease that cannot be
// read, and work on another agent's task.
func checkDroppedLease(ctx context.Context, w *commits.Work, r *rule.Reporter) error {
	path := small.Plan.Path(w.Dir)
	if !w.Differs(path) {
		return nil
	}
	v, err := readAgentCommit(ctx, w)
	if err != nil || v == nil || v.plan == nil {
		return err
	}
	log, err := w.Log(ctx)
	if err != nil || log == nil || log.Len() == 0 {
		return err
	}
	last := log.Entries[log.Len()-1]
	tasks, order := read.TasksOf(v.plan)
	leases := leasesIn(v.plan)
	for _, id := range order {
		was := v.before[0][id]
		now := leases[id]
		_, malformed, _ := leaseOf(tasks[id].Value)
		if was == nil || malformed != "" || !was.holds(last) || v.owner.MadeBy(was.agent) || now != nil && now.agent == was.agent || !heldInAll(was.agent, id, v.before) {
			continue
		}
		if slices.ContainsFunc(w.NewEntries, func(e ledger.Entry) bool { return e.TaskID == id && v.foreign(e) != nil }) {
			continue
		}
		does, fix := "takes it away", fmt.Sprintf("copy the lease back into the plan; git show %s:%s has it", history.Short(w.Parent), wording.ShellWord(path))
		if now != nil {
			does, fix = fmt.Sprintf("gives it to agent %q", now.agent), "leave the task to the lease's holder, or ask the holder to give it up in the plan"
		}
		pos := tasks[id].Pos
		r.Add(finding.Finding{
			Path: path, Line: pos.Line, Column: pos.Column, Subject: "lease " + id,
			Message: fmt.Sprintf("agent %q has leased task %q until %s, and agent %q %s", was.agent, id, was.text, v.owner.Agent, does),
			Fix:     fix,
		})
	}
	return nil
}

// heldInAll reports whether an agent has the lease of a task in all plans.
func heldInAll(agent, task string, plans []map[string]*lease) bool {
	return !slices.ContainsFunc(plans, func(leases map[string]*lease) bool {
		return leases[task] == nil || leases[task].agent != agent
	})
}

func checkMalformedLease(w *read.Workspace, r *rule.Reporter) {
	severity := finding.SeverityWarning
	if w.Strict || len(leasesIn(w.Doc(small.Plan))) > 0 {
		severity = finding.SeverityError
	}
	for i, task := range w.Tasks() {
		_, problem, at := leaseOf(task.Value)
		if problem == "" {
			continue
		}
		r.Add(finding.Finding{
			Severity: severity,
			Path:     w.Path(small.Plan), Line: at.Pos.Line, Column: at.Pos.Column, Subject: fmt.Sprintf("tasks.%d.lease", i),
			Message: fmt.Sprintf("task %d: %s", i+1, problem),
			Fix:     "write lease: {agent_id: \"agent-1\", expires: \"2026-12-31T12:00:00Z\"}, or remove it",
		})
	}
}
