package gate

var ruleWorkflowCheckpoint = Rule{
	ID: "workflow/checkpoint", Severity: SeverityWarning, Stage: StageLint,
	Workflow: checkCheckpoint,
}

func checkCheckpoint(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckCheckpoint() {
		r.add(problemFinding(v.path, p))
	}
}
