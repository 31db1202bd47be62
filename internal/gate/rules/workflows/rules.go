package workflows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/policy/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about workflow files, and about the records of jobs and campaigns.
var Family = run.Family{
	Name: "workflows",
	Rules: []rule.Rule{
		rule.New("workflow/front-matter", finding.SeverityError, finding.StageValidate, rule.On(workflowProblems(workflowFileProblems))),
		rule.New("workflow/unknown-key", finding.SeverityWarning, finding.StageValidate, rule.On(workflowProblems(func(v *workflowFile) []small.Problem { return v.Unknown }))),
		rule.New("workflow/phase", finding.SeverityError, finding.StageVerify, rule.On(onWorkflow((*lane.Workflow).CheckPhases))),
		rule.New("workflow/agent", finding.SeverityError, finding.StageVerify, rule.On(checkAgents)),
		rule.New("workflow/shape", finding.SeverityWarning, finding.StageLint, rule.On(onWorkflow((*lane.Workflow).CheckShape))),
		rule.New("workflow/checkpoint", finding.SeverityWarning, finding.StageLint, rule.On(onWorkflow((*lane.Workflow).CheckCheckpoint))),
		rule.New("workflow/history-rewritten", finding.SeverityError, finding.StageHistory, rule.On(checkRewritten)).
			ForEdits(ledger.EntryChanged | ledger.EntryLost | ledger.LogEnded | ledger.OfRecord),
		rule.New("workflow/history-invalid", finding.SeverityError, finding.StageVerify, rule.On(workflowProblems(jobProblems)), rule.On(checkUnreadable(true))),
		rule.New("workflow/campaign-invalid", finding.SeverityError, finding.StageVerify, rule.On(workflowProblems(campaignProblems)), rule.On(checkUnreadable(false))),
	},
	Checks:   map[string]rule.Check{"divergence/concurrent-append": rule.On(checkSwitchTips)},
	Sections: []policy.Section{lane.Workflows},
	Passes:   func() run.Passes { return run.Passes{run.AtTip: atTip, run.AtDirectory: atDirectory} },
}

func workflowFileProblems(v *workflowFile) []small.Problem {
	if v.IsRecord {
		return nil
	}
	return v.Problems
}

func jobProblems(v *workflowFile) []small.Problem {
	switch {
	case v.Record != nil:
		return v.Record.CheckSwitches(v.Find)
	case v.IsRecord && !v.IsCampaign:
		return v.Problems
	}
	return nil
}

func campaignProblems(v *workflowFile) []small.Problem {
	switch {
	case v.Record != nil:
		return v.Record.CheckChildren()
	case v.IsCampaign:
		return v.Problems
	}
	return nil
}

// checkUnreadable makes the check that reports records of jobs, or of campaigns, that a commit made unreadable.
func checkUnreadable(job bool) func(*logs.UnreadableLog, *rule.Reporter) {
	return func(u *logs.UnreadableLog, r *rule.Reporter) {
		if at := placesOf(u.Run); at.HasRecord(u.Path) && at.HasJob(u.Path) == job {
			u.Report(r, "")
		}
	}
}

// onWorkflow makes a check from a function that needs a workflow.
func onWorkflow(check func(*lane.Workflow) []small.Problem) func(*workflowFile, *rule.Reporter) {
	return workflowProblems(func(v *workflowFile) []small.Problem {
		if v.Workflow == nil {
			return nil
		}
		return check(v.Workflow)
	})
}

// workflowProblems makes a check from a function that lists problems.
func workflowProblems(check func(*workflowFile) []small.Problem) func(*workflowFile, *rule.Reporter) {
	return func(v *workflowFile, r *rule.Reporter) {
		for _, p := range check(v) {
			f := finding.OfProblem(v.Path, p)
			if v.IsRecord && v.Record == nil {
				f.Edits = finding.Unreadable(v.Path, v.Object, p) // the commit's edge reports it too
			}
			r.Add(f)
		}
	}
}

func checkAgents(v *workflowFile, r *rule.Reporter) {
	there := func(p string) bool { return v.scan.there[p].Regular() || v.scan.there[p].Unmerged }
	isLink := func(p string) bool { _, is := v.scan.links[p]; return is }
	for _, a := range v.agents {
		if slices.ContainsFunc(a.Paths, there) {
			continue
		}
		link := slices.IndexFunc(a.Paths, isLink)
		f := finding.Finding{Path: v.Path, Line: a.Pos.Line, Column: a.Pos.Column, Subject: a.Subject}
		names := a.Of + " names the agent file " + wording.Quote(a.Text)
		switch {
		case len(a.Paths) == 0:
			f.Message = names + ", which lies outside the folders where agents are looked for"
			f.Fix = "write its path from the folder that holds \"workflows\", such as agents/planner.md, or name its folder in .small-gate.yml (workflows: {roots: [...]})"
		case link >= 0:
			f.Message = names + ", which is a symbolic link to no file in this repository"
			f.Fix = "point the link " + wording.Quote(a.Paths[link]) + " at a file, or replace it with the file"
		default:
			f.Message = names + ", which does not exist"
			places := make([]string, len(a.Paths))
			for i, at := range a.Paths {
				places[i] = wording.Quote(at)
			}
			f.Fix = "commit a file at " + strings.Join(places, " or ") + ", or correct the path"
		}
		if placesOf(v.scan.run).AgentsOptional {
			f.Severity = finding.SeverityWarning
		}
		r.Add(f)
	}
}

// checkRewritten reports earlier switches in a job's history that were changed, deleted or moved, and switches inserted before them.
func checkRewritten(e logs.FamilyChange, r *rule.Reporter) {
	if e.New == nil {
		if n := e.Old.Len(); n > 0 {
			head := e.Old.Head().String()
			r.Add(finding.Finding{
				Path: e.Path, EditFrom: head, Edits: []finding.EditKey{{Path: e.Path, From: head}},
				Message: fmt.Sprintf("the record with %s is gone", wording.Count(n, "workflow switch")), Fix: restoreSwitches(e),
			})
		}
		return
	}
	for _, kind := range []ledger.EditKind{ledger.EditModified, ledger.EditTimestampMigrated, ledger.EditTaskReassigned, ledger.EditDeleted, ledger.EditReordered} {
		for _, x := range e.OfKind(kind) {
			f := e.Finding(x)
			f.Message, f.Fix = describeRewritten(e, x), restoreSwitches(e)
			r.Add(f)
		}
	}
	inserted := e.Misplaced
	if !e.IsMerge {
		inserted = e.Inserted
	}
	for _, index := range inserted {
		f := e.InsertionFinding(index)
		f.Message, f.Fix = ledger.Describe(e.New.Entries[index])+" was inserted before older ones", restoreSwitches(e)
		r.Add(f)
	}
}

func describeRewritten(e logs.FamilyChange, x ledger.Edit) string {
	words := ledger.Describe(e.Old.Entries[x.OldIndex])
	switch {
	case x.Kind == ledger.EditDeleted && e.IsMerge:
		return "the merge lost " + words + " of " + e.Side
	case x.Kind == ledger.EditDeleted:
		return words + " was deleted"
	case x.Kind == ledger.EditReordered:
		return fmt.Sprintf("%s was moved; it is switch %d now", words, x.NewIndex+1)
	}
	return e.DescribeModified(x)
}

// restoreSwitches says how to restore a switch history. A merge of two branches that both switched a job always
// breaks the chain of one of them.
func restoreSwitches(e logs.FamilyChange) string {
	if e.IsMerge {
		return "a merge cannot join the two: undo it if nobody else has it, and rebase the side that is not published on the other; keep the switches of that side as they are, " +
			"and record your own again after them, from the workflow that they led to"
	}
	return e.UsualFix()
}

// checkSwitchTips is divergence/concurrent-append for a job's switches. No merge and no waiver can join them: both sides start
// from the workflow that was active at the merge base.
func checkSwitchTips(t logs.FamilyTips, r *rule.Reporter) {
	if t.Outcome != ledger.Diverged {
		return
	}
	f := t.BothAppendedFinding("switched the workflow of one job", "switch",
		"rebase the branch on the other if nobody else has it: keep the other side's switches as they are, and record the branch's own again after them, "+
			"from the workflow that they led to; if the branch is already published, push it under another name")
	f.Subject, f.EditFrom, f.EditTo = f.EditFrom+" "+f.EditTo, "", ""
	r.Add(f)
}
