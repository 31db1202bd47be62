package gate

var ruleWorkflowShape = Rule{
	ID: "workflow/shape", Severity: SeverityWarning, Stage: StageLint,
	Workflow: checkShape,
}

func checkShape(v *workflowView, r *reporter) {
	if v.workflow == nil {
		return
	}
	for _, p := range v.workflow.CheckShape() {
		r.add(problemFinding(v.path, p))
	}
}
