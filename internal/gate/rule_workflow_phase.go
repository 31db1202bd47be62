package gate

var ruleWorkflowPhase = Rule{
	ID: "workflow/phase", Severity: SeverityError, Stage: StageVerify,
	Workflow: checkPhases,
}

func checkPhases(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckPhases() {
		r.add(problemFinding(v.path, p))
	}
}
