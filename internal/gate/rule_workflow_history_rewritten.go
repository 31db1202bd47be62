package gate

import (
	"fmt"
	"strings"

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
-- 1/workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
  - name: coding
    agent: agents/coder.md
    subagents: [{name: code-reviewer, agent: agents/coder.md}]
  - {name: review-and-verify, agent: agents/planner.md}
---
-- 1/workflows/trial/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
---
-- 1/agents/planner.md --
Plan the work.
-- 1/agents/coder.md --
Write the code.
-- 1/jobs/7.json --
{
  "workflowPath": "workflows/job-fast/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "small change", "by": "switch_workflow"
    }
  ]
}
-- 2/jobs/7.json --
{
  "workflowPath": "workflows/job-fast/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "nothing but text changes", "by": "switch_workflow"
    }
  ]
}
`,
	Right: `
-- 1/.small-gate.yml --
version: 1
workflows: {jobs: ["jobs/*.json"]}
-- 1/workflows/job-fast/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md, interactive_checkpoint: true}
  - name: coding
    agent: agents/coder.md
    subagents: [{name: code-reviewer, agent: agents/coder.md}]
  - {name: review-and-verify, agent: agents/planner.md}
---
-- 1/workflows/trial/workflow.md --
---
phases:
  - {name: planning, agent: agents/planner.md}
---
-- 1/agents/planner.md --
Plan the work.
-- 1/agents/coder.md --
Write the code.
-- 1/jobs/7.json --
{
  "workflowPath": "workflows/job-fast/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "small change", "by": "switch_workflow"
    }
  ]
}
-- 2/jobs/7.json --
{
  "workflowPath": "workflows/trial/workflow.md",
  "workflowPathHistory": [
    {
      "at": "2026-03-01T09:10:00Z", "from": "workflows/trial/workflow.md", "to": "workflows/job-fast/workflow.md",
      "fromPhase": "planning", "toPhase": "coding", "reason": "small change", "by": "switch_workflow"
    },
    {
      "at": "2026-03-01T09:30:00Z", "from": "workflows/job-fast/workflow.md", "to": "workflows/trial/workflow.md",
      "fromPhase": "coding", "reason": "the reason before was too short: nothing but text changes", "by": "switch_workflow"
    }
  ]
}
`,
	Workflow: checkRewritten,
}

// ruleRewrittenID is named by what knows waivers, which the rule's own value
// cannot be.
const ruleRewrittenID = "workflow/history-rewritten"

func checkRewritten(v *workflowView, r *reporter) {
	if v.edge == nil {
		return
	}
	e := v.edge
	if e.c == nil {
		reportRecordDeleted(e, r)
		return
	}
	for _, kind := range []editKind{editModified, editTimestampMigrated, editTaskReassigned, editDeleted, editReordered} {
		for _, x := range e.ofKind(kind) {
			f := e.finding(x)
			f.Message = rewrittenWords(e, x)
			f.Fix = r.keepSwitches(e)
			r.add(f)
		}
	}
	if e.merge {
		for _, place := range e.intruders {
			reportSwitchInserted(e, r, place)
		}
		return
	}
	for _, place := range e.inserted {
		reportSwitchInserted(e, r, place)
	}
	for _, x := range e.ofKind(editInserted) {
		reportSwitchInserted(e, r, x.after)
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
	switch x.kind {
	case editDeleted:
		if e.merge {
			return "the merge lost " + words + " of " + e.side
		}
		return words + " was deleted"
	case editReordered:
		return fmt.Sprintf("%s was moved; it is switch %d now", words, x.after+1)
	}
	var fields []string
	for _, c := range x.changes {
		if c.Field != "" {
			fields = append(fields, c.Field)
		}
	}
	if len(fields) > 0 {
		return words + " was modified: " + strings.Join(fields, ", ")
	}
	return words + " was modified"
}

func reportSwitchInserted(e *edgeView, r *reporter, place int) {
	f := e.insertion(place)
	f.Message = switchWords(e.c.Entries[place]) + " was inserted before older ones"
	f.Fix = r.undoing(e.path, e.parents, "record it at the end of workflowPathHistory, with the time of recording")
	if e.merge {
		f.Fix = rebaseSwitches
	}
	r.add(f)
}

func reportRecordDeleted(e *edgeView, r *reporter) {
	if e.p.Len() == 0 {
		return
	}
	head := e.p.Head().String()
	n := fmt.Sprintf("%d switches", e.p.Len())
	if e.p.Len() == 1 {
		n = "1 switch"
	}
	r.add(Finding{
		Path: e.path, EditFrom: head,
		edits:   []editKey{{path: e.path, from: head}},
		Message: "the record with " + n + " is gone",
		Fix:     r.undoing(e.path, e.parents, r.restoring(e.path)),
	})
}

// rebaseSwitches says how two branches that both switched a job come together: in
// a merge the chain of one of them is always broken.
const rebaseSwitches = "give the merge up and rebase the one branch on the other instead (git merge --abort, or git reset --hard to before the merge; then git rebase): keep the switches that are there first as they are, and record the branch's own again after them, from the workflow that they led to"

// keepSwitches says how to bring a switch history back.
func (r *reporter) keepSwitches(e *edgeView) string {
	if e.merge {
		return rebaseSwitches
	}
	fix := r.undoing(e.path, e.parents, "put workflowPathHistory back as it was, and append the switch that is right now")
	if r.commit == Index {
		fix += "; if it is HEAD that is wrong, take that commit back (git reset --soft HEAD~1)"
	}
	return fix
}

// restoring says how to bring a file back that a change has deleted.
func (r *reporter) restoring(path string) string {
	return "bring it back (git restore --source=" + short(r.parent) + " --staged --worktree -- " + shellQuote(path) + "), or move it whole, in one commit, to where the trusted configuration has records too (workflows: jobs, campaigns)"
}
