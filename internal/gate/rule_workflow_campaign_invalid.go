package gate

var ruleWorkflowCampaign = Rule{
	ID: "workflow/campaign-invalid", Severity: SeverityError, Stage: StageVerify,
	Summary: "a campaign's children do not hold together",
	Why: `A campaign hands parts of a piece of work to jobs of their own, in the order of their dependencies. A
child that depends on an unknown one, or in a circle on itself, is never begun. One that is complete
before what it depends on was built on something that did not exist; a dependency that was skipped or
cancelled counts as done. The record is judged as it stands: a child that has ended may be run again.`,
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
	if v.isCampaign {
		reportUnreadable(v, r)
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckChildren() {
		r.add(problemFinding(v.path, p))
	}
}
