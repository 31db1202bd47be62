package gate

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleWorkflowRewritten = Rule{
	ID: ruleRewrittenID, Severity: SeverityError, Stage: StageHistory,
	Summary: "an earlier switch in a job's history was changed, deleted or moved",
	Why: `A lane is a claim about rigour, and a switch is where it changes: from FAST to STANDARD because the work
turned out larger, or the other way round because somebody said so. What the record said when the switch
was made is the only proof of why. So workflowPathHistory is kept as the progress log is: an element is
never changed, taken out or moved, a new one goes to the end, and a record with switches does not
disappear. What counts is the meaning; indentation and the order of keys change nothing. Put the element
back as it was and append the switch that is right now. Where one really must go, a waiver in
.small-gate.yml excuses that one edit.`,
	Wrong: `
-- 1/.small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- 1/workflows/small/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- 1/workflows/large/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- 1/jobs/7.json --
{
  "workflowPath": "workflows/large",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "it touches the parser as well", "by": "switch_workflow"}
  ]
}
-- 2/jobs/7.json --
{
  "workflowPath": "workflows/large",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "more than one part", "by": "switch_workflow"}
  ]
}
`,
	Right: `
-- 1/.small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- 1/workflows/small/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- 1/workflows/large/workflow.md --
---
phases: [{name: planning, agent: ~}]
---
-- 1/jobs/7.json --
{
  "workflowPath": "workflows/large",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "it touches the parser as well", "by": "switch_workflow"}
  ]
}
-- 2/jobs/7.json --
{
  "workflowPath": "workflows/small",
  "workflowPathHistory": [
    {"at": "2026-03-01T09:10:00Z", "from": "workflows/small", "to": "workflows/large", "fromPhase": "planning",
     "reason": "it touches the parser as well", "by": "switch_workflow"},
    {"at": "2026-03-01T09:30:00Z", "from": "workflows/large", "to": "workflows/small", "fromPhase": "planning",
     "reason": "the parser was left out after all", "by": "switch_workflow"}
  ]
}
`,
	Edge: checkRewritten, Switches: true,
}

// ruleRewrittenID is named by what knows waivers, which the rule's own value
// cannot be.
const ruleRewrittenID = "workflow/history-rewritten"

func checkRewritten(e *edgeView, r *reporter) {
	if e.c == nil {
		if n := e.p.Len(); n > 0 {
			head := e.p.Head().String()
			r.add(Finding{
				Path: e.path, EditFrom: head, edits: []editKey{{path: e.path, from: head}},
				Message: fmt.Sprintf("the record is gone, and with it its switches of workflow: %d", n), Fix: r.keepSwitches(e),
			})
		}
		return
	}
	for _, kind := range []editKind{editModified, editTimestampMigrated, editTaskReassigned, editDeleted, editReordered} {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message, f.Fix = rewrittenWords(e, x), r.keepSwitches(e)
			r.add(f)
		}
	}
	inserted := e.intruders
	if !e.merge {
		inserted = slices.Clone(e.inserted)
		for _, x := range e.ofKind(editInserted) {
			inserted = append(inserted, x.after)
		}
	}
	for _, place := range inserted {
		f := e.insertion(place)
		f.Message, f.Fix = switchWords(e.c.Entries[place])+" was inserted before older ones", r.keepSwitches(e)
		r.add(f)
	}
}

// switchWords names a switch for people: its number and time.
func switchWords(e small.Entry) string {
	if e.Timestamp == "" {
		return fmt.Sprintf("switch %d", e.Index+1)
	}
	return fmt.Sprintf("switch %d (%s)", e.Index+1, e.Timestamp)
}

func rewrittenWords(e *edgeView, x edit) string {
	words := switchWords(e.p.Entries[x.before])
	switch {
	case x.kind == editDeleted && e.merge:
		return "the merge lost " + words + " of " + e.side
	case x.kind == editDeleted:
		return words + " was deleted"
	case x.kind == editReordered:
		return fmt.Sprintf("%s was moved; it is switch %d now", words, x.after+1)
	}
	words += " was modified"
	for i, c := range x.changes {
		if i == 0 {
			words += ": " + c.Field
		} else {
			words += ", " + c.Field
		}
	}
	return words
}

// keepSwitches says how to bring a switch history back. In a merge of two branches
// that both switched a job, the chain of one of them is always broken.
func (r *reporter) keepSwitches(e *edgeView) string {
	switch {
	case e.merge:
		return "give the merge up and rebase the one branch on the other instead (git merge --abort, or git reset --hard to before the merge; then git rebase): keep the switches that are there first as they are, and record the branch's own again after them, from the workflow that they led to"
	case e.c == nil:
		return r.bringBack(e)
	}
	return r.putBack(e)
}
