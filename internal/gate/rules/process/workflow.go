package process

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// WorkflowFrontMatter is workflow/front-matter: a workflow file has no valid front matter.
var WorkflowFrontMatter = rule.New("workflow/front-matter", finding.SeverityError, finding.StageValidate, rule.On(workflowProblems(func(v *subject.WorkflowFile) []small.Problem {
	if v.IsRecord {
		return nil
	}
	return v.Problems
})))

// WorkflowUnknownKey is workflow/unknown-key: a workflow file has an unknown key.
var WorkflowUnknownKey = rule.New("workflow/unknown-key", finding.SeverityWarning, finding.StageValidate, rule.On(workflowProblems(func(v *subject.WorkflowFile) []small.Problem { return v.Unknown })))

// WorkflowPhase is workflow/phase.
var WorkflowPhase = rule.New("workflow/phase", finding.SeverityError, finding.StageVerify, rule.On(ofWorkflow((*lane.Workflow).CheckPhases)))

// WorkflowShape is workflow/shape: a workflow with a well-known name lacks what its lane promises.
var WorkflowShape = rule.New("workflow/shape", finding.SeverityWarning, finding.StageLint, rule.On(ofWorkflow((*lane.Workflow).CheckShape)))

// WorkflowCheckpoint is workflow/checkpoint: a workflow merges without asking a person once code is written.
var WorkflowCheckpoint = rule.New("workflow/checkpoint", finding.SeverityWarning, finding.StageLint, rule.On(ofWorkflow((*lane.Workflow).CheckCheckpoint)))

// WorkflowHistory is workflow/history-invalid: a job's record is inconsistent.
var WorkflowHistory = rule.New("workflow/history-invalid", finding.SeverityError, finding.StageVerify, rule.On(workflowProblems(func(v *subject.WorkflowFile) []small.Problem {
	switch {
	case v.Record != nil:
		return v.Record.CheckSwitches(v.Find)
	case v.IsRecord && !v.IsCampaign:
		return v.Problems
	}
	return nil
})), rule.On(func(u *subject.UnreadableLog, r *rule.Reporter) {
	if u.IsJob {
		u.Report(r, "")
	}
}))

// WorkflowCampaign is workflow/campaign-invalid: a campaign's children are inconsistent.
var WorkflowCampaign = rule.New("workflow/campaign-invalid", finding.SeverityError, finding.StageVerify, rule.On(workflowProblems(func(v *subject.WorkflowFile) []small.Problem {
	switch {
	case v.Record != nil:
		return v.Record.CheckChildren()
	case v.IsCampaign:
		return v.Problems
	}
	return nil
})), rule.On(func(u *subject.UnreadableLog, r *rule.Reporter) {
	if u.IsCampaign {
		u.Report(r, "")
	}
}))

// ofWorkflow makes a check of one that needs a workflow.
func ofWorkflow(check func(*lane.Workflow) []small.Problem) func(*subject.WorkflowFile, *rule.Reporter) {
	return workflowProblems(func(v *subject.WorkflowFile) []small.Problem {
		if v.Workflow == nil {
			return nil
		}
		return check(v.Workflow)
	})
}

// workflowProblems makes a check of one that lists problems.
func workflowProblems(check func(*subject.WorkflowFile) []small.Problem) func(*subject.WorkflowFile, *rule.Reporter) {
	return func(v *subject.WorkflowFile, r *rule.Reporter) {
		for _, p := range check(v) {
			f := finding.OfProblem(v.Path, p)
			if v.IsRecord && v.Record == nil {
				f.Edits = finding.Unreadable(v.Path, v.Object, p) // the commit's edge reports it too
			}
			r.Add(f)
		}
	}
}
