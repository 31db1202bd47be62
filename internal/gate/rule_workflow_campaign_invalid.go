package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
)

var ruleWorkflowCampaign = Rule{
	ID: ruleCampaignID, Severity: SeverityError, Stage: StageVerify,
	Summary: "a campaign's children do not hold together, or one that had ended has not any more",
	Why: `A campaign hands parts of a piece of work to jobs of their own, in the order of their dependencies. A
child that depends on an unknown one, or in a circle on itself, is never begun. One that is complete
before what it depends on was built on something that was not there. And complete, failed, escalated,
skipped and cancelled are last words: a child that goes back from one of them, or is dropped or renamed
after it, hides what became of its first job. Give the second attempt a child of its own. One last word
may take the place of another, since that corrects the outcome and nothing is run again. A record with
children that had ended does not disappear; it may move. A dependency that was skipped counts as done.
Where a child really must go, a waiver in .small-gate.yml excuses that one edit (small-hook waive).`,
	Wrong: `
-- .small-gate.yml --
version: 1
workflows: {campaigns: ["campaigns/*.yml"]}
-- campaigns/import.yml --
campaignChildren:
  - {name: reader, status: dispatched, jobId: job-7}
  - {name: writer, dependsOn: [reader], status: complete}
`,
	Right: `
-- .small-gate.yml --
version: 1
workflows: {campaigns: ["campaigns/*.yml"]}
-- campaigns/import.yml --
campaignChildren:
  - {name: reader, status: complete, jobId: job-7}
  - {name: writer, dependsOn: [reader], status: dispatched}
`,
	Workflow: checkCampaign,
}

// ruleCampaignID is named by what knows edits of records.
const ruleCampaignID = "workflow/campaign-invalid"

func checkCampaign(v *workflowView, r *reporter) {
	for _, u := range v.undone {
		r.add(undoneFinding(v, r, u))
	}
	if len(v.gone) > 0 {
		r.add(goneFinding(v, r))
	}
	if v.isCampaign {
		for _, p := range v.problems {
			f := recordProblem(v.path, p)
			f.edits = unreadableAs(v.path, v.object, p)
			r.add(f)
		}
	}
	if v.record == nil {
		return
	}
	for _, p := range v.record.CheckChildren() {
		r.add(recordProblem(v.path, p))
	}
}

// undoneFinding is about one child that had ended and has not any more. The child
// as it had ended is the edit, whatever became of it: it is told once, where it
// happened.
func undoneFinding(v *workflowView, r *reporter, u lane.Undone) Finding {
	f := Finding{
		Path: v.path, Line: u.Pos.Line, Column: u.Pos.Column, subject: u.Subject, EditFrom: u.Was.String(),
		edits:   []editKey{{path: v.path, from: u.Was.String()}},
		Message: fmt.Sprintf("the child %q was %s and is %s now; nothing follows on %s", u.Child, u.From, u.To, u.From),
	}
	keep := "put the status back, and add a child of its own for another attempt"
	switch {
	case u.Gone:
		f.Message = fmt.Sprintf("the child %q was %s and is gone", u.Child, u.From)
		keep = "put the child back as it was, under its name"
	case u.To == "":
		f.Message = fmt.Sprintf("the child %q was %s and has no status now; nothing follows on %s", u.Child, u.From, u.From)
	}
	f.Fix = r.undoing(v.path, v.parents, keep)
	return f
}

// goneFinding is about a campaign's record that is gone.
func goneFinding(v *workflowView, r *reporter) Finding {
	f := Finding{Path: v.path}
	var digests, names []string
	for i, u := range v.gone {
		digests = append(digests, u.Was.String())
		f.edits = append(f.edits, editKey{path: v.path, from: u.Was.String()})
		if i < 5 {
			names = append(names, fmt.Sprintf("%q (%s)", u.Child, u.From))
		}
	}
	if more := len(v.gone) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	f.EditFrom = wordsDigest(digests...)
	f.Message = "the record is gone, with children that had ended: " + strings.Join(names, ", ")
	f.Fix = r.undoing(v.path, v.parents, r.restoring(v.path))
	return f
}
