package gate

import (
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

var ruleWorkflowFrontMatter = Rule{
	ID: "workflow/front-matter", Severity: SeverityError, Stage: StageValidate,
	Checks: []RuleCheck{On(workflowProblems(func(v *WorkflowFile) []small.Problem {
		if v.isRecord {
			return nil
		}
		return v.problems
	}))},
}

var ruleWorkflowUnknownKey = Rule{
	ID: "workflow/unknown-key", Severity: SeverityWarning, Stage: StageValidate,
	Checks: []RuleCheck{On(workflowProblems(func(v *WorkflowFile) []small.Problem { return v.unknown }))},
}

var ruleWorkflowPhase = Rule{
	ID: "workflow/phase", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(ofWorkflow((*lane.Workflow).CheckPhases))},
}

var ruleWorkflowShape = Rule{
	ID: "workflow/shape", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(ofWorkflow((*lane.Workflow).CheckShape))},
}

var ruleWorkflowCheckpoint = Rule{
	ID: "workflow/checkpoint", Severity: SeverityWarning, Stage: StageLint,
	Checks: []RuleCheck{On(ofWorkflow((*lane.Workflow).CheckCheckpoint))},
}

var ruleWorkflowHistory = Rule{
	ID: "workflow/history-invalid", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(workflowProblems(func(v *WorkflowFile) []small.Problem {
		switch {
		case v.record != nil:
			return v.record.CheckSwitches(v.find)
		case v.isRecord && !v.isCampaign:
			return v.problems
		}
		return nil
	})), On(func(u *UnreadableLog, r *Reporter) {
		if u.isJob {
			u.report(r, "")
		}
	})},
}

var ruleWorkflowCampaign = Rule{
	ID: "workflow/campaign-invalid", Severity: SeverityError, Stage: StageVerify,
	Checks: []RuleCheck{On(workflowProblems(func(v *WorkflowFile) []small.Problem {
		switch {
		case v.record != nil:
			return v.record.CheckChildren()
		case v.isCampaign:
			return v.problems
		}
		return nil
	})), On(func(u *UnreadableLog, r *Reporter) {
		if u.isCampaign {
			u.report(r, "")
		}
	})},
}

// ofWorkflow makes a rule's check of one that needs a workflow only.
func ofWorkflow(check func(*lane.Workflow) []small.Problem) func(*WorkflowFile, *Reporter) {
	return workflowProblems(func(v *WorkflowFile) []small.Problem {
		if v.workflow == nil {
			return nil
		}
		return check(v.workflow)
	})
}

// workflowProblems makes a rule's check of one that lists problems.
func workflowProblems(check func(*WorkflowFile) []small.Problem) func(*WorkflowFile, *Reporter) {
	return func(v *WorkflowFile, r *Reporter) {
		for _, p := range check(v) {
			f := problemFinding(v.path, p)
			if v.isRecord && v.record == nil {
				f.edits = unreadableAs(v.path, v.object, p) // the commit's edge reports it too
			}
			r.Add(f)
		}
	}
}
