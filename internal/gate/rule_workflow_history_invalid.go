package gate

var ruleWorkflowHistory = Rule{
	ID: "workflow/history-invalid", Severity: SeverityError, Stage: StageVerify,
	Workflow: checkHistory,
}

func checkHistory(v *workflowView, r *reporter) {
	if v.isRecord && !v.isCampaign {
		reportUnreadable(v, r)
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckSwitches(v.find) {
		r.add(problemFinding(v.path, p))
	}
}

// reportUnreadable reports why a record cannot be read, once for all the places
// where that is found.
func reportUnreadable(v *workflowView, r *reporter) {
	for _, p := range v.problems {
		f := problemFinding(v.path, p)
		f.edits = unreadableAs(v.path, v.object, p)
		r.add(f)
	}
}
