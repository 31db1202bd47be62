package gate

var ruleWorkflowCampaign = Rule{
	ID: "workflow/campaign-invalid", Severity: SeverityError, Stage: StageVerify,
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
