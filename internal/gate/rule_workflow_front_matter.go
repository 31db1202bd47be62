package gate

var ruleWorkflowFrontMatter = Rule{
	ID: "workflow/front-matter", Severity: SeverityError, Stage: StageValidate,
	Workflow: checkFrontMatter,
}

func checkFrontMatter(v *workflowView, r *reporter) {
	if v.isRecord {
		return
	}
	for _, p := range v.problems {
		r.add(problemFinding(v.path, p))
	}
}
