package gate

var ruleWorkflowUnknownKey = Rule{
	ID: "workflow/unknown-key", Severity: SeverityWarning, Stage: StageValidate,
	Workflow: checkUnknownKeys,
}

func checkUnknownKeys(v *workflowView, r *reporter) {
	for _, p := range v.unknown {
		r.add(problemFinding(v.path, p))
	}
}
