package lane

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// campaignWorkflow is the name, and the kind, of a workflow that starts several jobs.
const campaignWorkflow = "campaign"

// byCampaign is the value of "by" in a switch that turns a job into a campaign.
const byCampaign = "convert_to_campaign"

// FindWorkflow returns the file to which a workflow's path in a record refers, empty if there is none, and the workflow in it, nil if it cannot
// be read.
type FindWorkflow func(name string) (file string, w *Workflow)

// CheckSwitches reports what is wrong with a job's parameters and its switch history.
func (r *Record) CheckSwitches(find FindWorkflow) []small.Problem {
	out := r.checkLane()
	if problems := checkSchema(switchesSchema(), r.doc, switchExample); len(problems) > 0 {
		return append(out, problems...)
	}
	var before *Switch
	for i := range r.Switches {
		s := &r.Switches[i]
		out = append(out, s.checkTime(before)...)
		out = append(out, s.checkChain(before, find)...)
		out = append(out, s.checkNames(before == nil, find)...)
		if r.NoCampaign && (s.By.Text == byCampaign || isCampaign(s.To.Text, find)) {
			out = append(out, newProblem(s.To.Pos, s.subject, noCampaignHint,
				"the job is a campaign's child (params.epicAllowed is false) and became a campaign itself"))
		}
		before = s
	}
	if r.NoCampaign && len(r.Children) > 0 {
		out = append(out, newProblem(r.doc.Root.At([]string{"campaignChildren"}).Pos, "campaignChildren", noCampaignHint,
			"the job is a campaign's child (params.epicAllowed is false) and has children of its own"))
	}
	return append(out, r.checkActive(before, find)...)
}

const noCampaignHint = "let the parent campaign create the further jobs"

// checkLane reports a params.lane that is no lane.
func (r *Record) checkLane() []small.Problem {
	value := r.doc.Root.Get("params").Get("lane")
	if value == nil || value.Kind == small.Null || r.Lane != "" {
		return nil
	}
	words := value.Kind.String()
	if text, is := value.Str(); is {
		words = `"` + clip(text) + `"`
	}
	return []small.Problem{newProblem(value.Pos, "params.lane", "write one of "+strings.Join(Names, ", "),
		"params.lane is %s, which is not a lane", words)}
}

func (s *Switch) checkTime(before *Switch) []small.Problem {
	at, err := time.Parse(time.RFC3339Nano, s.At.Text)
	if err != nil {
		return []small.Problem{newProblem(s.At.Pos, s.subject+".at", "write it as 2026-03-01T09:10:00Z",
			"%q is not a time of the form of RFC 3339", clip(s.At.Text))}
	}
	if before == nil {
		return nil
	}
	if last, err := time.Parse(time.RFC3339Nano, before.At.Text); err == nil && !at.After(last) {
		return []small.Problem{newProblem(s.At.Pos, s.subject+".at", "record each switch when it is made, at the end of the list",
			"the switch at %s is not later than the one before it, at %s", clip(s.At.Text), clip(before.At.Text))}
	}
	return nil
}

func (s *Switch) checkChain(before *Switch, find FindWorkflow) []small.Problem {
	var out []small.Problem
	if before != nil && !sameWorkflow(before.To.Text, s.From.Text, find) {
		out = append(out, newProblem(s.From.Pos, s.subject+".from", "write from: "+clip(before.To.Text)+", or first record the switch that lies between the two",
			"the switch is from %q, but the one before it was to %q", clip(s.From.Text), clip(before.To.Text)))
	}
	if sameWorkflow(s.From.Text, s.To.Text, find) {
		out = append(out, newProblem(s.To.Pos, s.subject+".to", "remove the switch: this workflow is already active",
			"the switch is from %q to itself", clip(s.From.Text)))
	}
	return out
}

// sameWorkflow reports whether two paths are equal or lead to the same file.
func sameWorkflow(a, b string, find FindWorkflow) bool {
	one, _ := find(a)
	other, _ := find(b)
	return path.Clean(a) == path.Clean(b) || one != "" && one == other
}

// checkNames reports workflows and phases of a switch that do not exist. Of the switches only the first one's
// from is looked up; checkChain compares that of a later one with the to of the switch before it.
func (s *Switch) checkNames(first bool, find FindWorkflow) []small.Problem {
	var out []small.Problem
	if first {
		out = checkWorkflow(s.From, s.subject+".from", find)
	}
	out = append(out, checkPhase(s.From, s.FromPhase, s.subject+".fromPhase", find)...)
	out = append(out, checkWorkflow(s.To, s.subject+".to", find)...)
	return append(out, checkPhase(s.To, s.ToPhase, s.subject+".toPhase", find)...)
}

// keepOld ends the remedy for a wrong name in a switch.
const keepOld = "; if the switch is committed already, do not edit it: keep such a workflow for it"

func checkPhase(workflow, phase Ref, subject string, find FindWorkflow) []small.Problem {
	_, w := find(workflow.Text)
	if w == nil || phase.Text == "" || w.phase(phase.Text) >= 0 {
		return nil
	}
	return []small.Problem{newProblem(phase.Pos, subject, "name one of its phases, such as "+clip(w.Initial.Text)+keepOld,
		"the workflow %q has no phase %q", clip(w.Path), clip(phase.Text))}
}

func checkWorkflow(workflow Ref, subject string, find FindWorkflow) []small.Problem {
	if file, _ := find(workflow.Text); file != "" {
		return nil
	}
	return []small.Problem{newProblem(workflow.Pos, subject, "name a workflow file, such as workflows/job/workflow.md"+keepOld,
		"there is no workflow %q", clip(workflow.Text))}
}

func isCampaign(name string, find FindWorkflow) bool {
	_, w := find(name)
	return w != nil && (strings.EqualFold(w.Kind, campaignWorkflow) || strings.EqualFold(w.Name, campaignWorkflow))
}

// checkActive compares the active workflow with the last switch.
func (r *Record) checkActive(last *Switch, find FindWorkflow) []small.Problem {
	active := r.WorkflowPath
	switch {
	case last == nil && active.Text == "":
		return nil
	case last == nil && r.NoCampaign && isCampaign(active.Text, find):
		return []small.Problem{newProblem(active.Pos, "workflowPath", noCampaignHint,
			"the job is a campaign's child (params.epicAllowed is false) and runs as a campaign")}
	case last == nil:
		return checkWorkflow(active, "workflowPath", find)
	case active.Text == "":
		return []small.Problem{newProblem(last.To.Pos, "workflowPath", "add the key workflowPath",
			"the record does not say which workflow is active; the last switch was to %q", clip(last.To.Text))}
	case !sameWorkflow(active.Text, last.To.Text, find):
		return []small.Problem{newProblem(active.Pos, "workflowPath", "append the switch to this workflow",
			"the active workflow is %q, but the last switch was to %q", clip(active.Text), clip(last.To.Text))}
	}
	return nil
}

// Workflows lists the workflow paths in a record, each once.
func (r *Record) Workflows() []string {
	names := []string{r.WorkflowPath.Text}
	for _, s := range r.Switches {
		names = append(names, s.From.Text, s.To.Text)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !IsBelow(path.Clean(name)) })
}

// WorkflowFiles returns the files to which a workflow's path may refer: the path may be that of the file or of its folder.
func WorkflowFiles(name string) []string {
	return []string{path.Clean(name), path.Join(name, "workflow.md")}
}

// Nearest resolves a workflow's path that may be relative to any folder: of the files that end in it, it returns the one that shares the most leading
// folders with the record; empty if there is none.
func (r *Record) Nearest(name string, files []string) string {
	ends := WorkflowFiles(name)
	best, most := "", -1
	for _, file := range files {
		fits := slices.ContainsFunc(ends, func(end string) bool {
			folder, ok := strings.CutSuffix(file, end)
			return ok && (folder == "" || strings.HasSuffix(folder, "/"))
		})
		if n := sharedFolders(file, r.Path); fits && n > most {
			best, most = file, n
		}
	}
	return best
}

// sharedFolders counts the leading folders that two paths share.
func sharedFolders(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}
