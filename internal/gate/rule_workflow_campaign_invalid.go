package gate

import "fmt"

var ruleWorkflowCampaign = Rule{
	ID: "workflow/campaign-invalid", Severity: SeverityError, Stage: StageVerify,
	Summary: "a campaign's children do not hold together, or one went back from a terminal status",
	Why: `A campaign hands parts of a piece of work to jobs of their own, in the order of their dependencies. A
child that depends on an unknown one, or in a circle on itself, is never begun. One that is complete
before what it depends on was built on something that was not there. And complete, failed, escalated,
skipped and cancelled are last words: a child that goes back from one of them hides what became of its
first job. Give the second attempt a child of its own. A dependency that was skipped counts as done.`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {campaigns: ["campaigns/*.yml"]}
-- campaigns/import.yml --
campaignChildren:
  - {name: reader, status: dispatched, jobId: job-7}
  - {name: writer, dependsOn: [reader], status: complete}
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {campaigns: ["campaigns/*.yml"]}
-- campaigns/import.yml --
campaignChildren:
  - {name: reader, status: complete, jobId: job-7}
  - {name: writer, dependsOn: [reader], status: dispatched}
`,
	Workflow: checkCampaign,
}

func checkCampaign(v *workflowView, r *reporter) {
	for _, t := range v.turned {
		key := t.Child + "\x00"
		r.add(Finding{
			Path: v.path, Line: t.Pos.Line, Column: t.Pos.Column, subject: t.Subject + " " + t.From + " " + t.To,
			Message: fmt.Sprintf("the child %q was %s and is %s now; nothing follows on %s", t.Child, t.From, t.To, t.From),
			Fix:     "put the status back, and add a child of its own for another attempt",
			edits:   []editKey{{path: v.path, from: key + t.From, to: key + t.To}},
		})
	}
	if v.isCampaign {
		for _, p := range v.problems {
			f := problemFinding(v.path, p)
			f.edits = unreadableAs(v.path, v.object, p)
			r.add(f)
		}
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckChildren() {
		r.add(problemFinding(v.path, p))
	}
}
