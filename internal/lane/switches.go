package lane

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// campaignWorkflow is the name of the workflow that fans out over several jobs.
const campaignWorkflow = "campaign"

// byCampaign is what a switch is recorded by that makes a campaign of a job.
const byCampaign = "convert_to_campaign"

// FindWorkflow returns the workflow that a record names by its path. there says
// whether the path leads to a file at all; a file that is there and cannot be
// read is nil, and true.
type FindWorkflow func(path string) (w *Workflow, there bool)

// CheckSwitches says what is wrong with what a job was given and with its switch
// history, as they stand: fields, a lane that there is not, times, the chain from
// one workflow to the next, targets and phases that there are not, a campaign
// where none may be. Each problem has a hint that says what to do.
func (r *Record) CheckSwitches(find FindWorkflow) []small.Problem {
	out := r.checkLane()
	if problems := switchesSchema().Check(r.doc); len(problems) > 0 {
		return append(out, withHints(problems)...)
	}
	for i := range r.Switches {
		s := &r.Switches[i]
		var before *Switch
		if i > 0 {
			before = &r.Switches[i-1]
		}
		out = append(out, s.checkTime(before)...)
		out = append(out, s.checkChain(before, find)...)
		problems := s.checkTarget(before, find)
		problems = asPast(problems, i < len(r.Switches)-1)
		out = append(out, problems...)
		if r.NoCampaign {
			out = append(out, s.checkNoCampaign(find)...)
		} else {
			out = append(out, s.checkBy(find)...)
		}
	}
	return append(out, r.checkActive(find)...)
}

func (s *Switch) checkTime(before *Switch) []small.Problem {
	at, err := time.Parse(time.RFC3339Nano, s.At.Text)
	if err != nil {
		return []small.Problem{problem(s.At.Pos, s.subject+".at", "write it as 2026-03-01T09:10:00Z",
			"%q is not a time of the form of RFC 3339", clip(s.At.Text))}
	}
	if before == nil {
		return nil
	}
	last, err := time.Parse(time.RFC3339Nano, before.At.Text)
	if err == nil && !at.After(last) {
		return []small.Problem{problem(s.At.Pos, s.subject+".at", "record each switch when it is made, at the end of the list",
			"the switch at %s is not later than the one before it, at %s", clip(s.At.Text), clip(before.At.Text))}
	}
	return nil
}

func (s *Switch) checkChain(before *Switch, find FindWorkflow) []small.Problem {
	var out []small.Problem
	if before != nil && !sameWorkflow(before.To.Text, s.From.Text, find) {
		out = append(out, problem(s.From.Pos, s.subject+".from", "record the new switch from "+clip(before.To.Text)+", or first append the one that led from there; of two branches, one records its switch again after the other's",
			"the switch is from %q, and the one before it was to %q", clip(s.From.Text), clip(before.To.Text)))
	}
	if sameWorkflow(s.From.Text, s.To.Text, find) {
		out = append(out, problem(s.To.Pos, s.subject+".to", "leave it out: what is active already is not switched to",
			"the switch is from %q to itself", clip(s.From.Text)))
	}
	return out
}

// sameWorkflow reports whether two paths are written alike or lead to the same
// workflow.
func sameWorkflow(a, b string, find FindWorkflow) bool {
	if path.Clean(a) == path.Clean(b) {
		return true
	}
	one, _ := find(a)
	other, _ := find(b)
	return one != nil && one == other
}

// asPast has problems of a switch say what can be done about them where it is
// recorded already, as one that others follow surely is: a workflow that was
// renamed since is missing under its old name, and the switch stays as it was.
func asPast(problems []small.Problem, surely bool) []small.Problem {
	const keep = "keep a workflow with that path and that phase for the records that name it, or waive the edit of the switch"
	for i := range problems {
		if surely {
			problems[i].Hint = "an earlier switch stays as it is: " + keep
		} else {
			problems[i].Hint += "; if the switch was committed before, it stays as it is: " + keep
		}
	}
	return problems
}

// checkBy holds the word for making a campaign of a job against where it led.
func (s *Switch) checkBy(find FindWorkflow) []small.Problem {
	if _, there := find(s.To.Text); s.By.Text != byCampaign || !there || isCampaign(s.To.Text, find) {
		return nil
	}
	return []small.Problem{problem(s.By.Pos, s.subject+".by", `write "switch_workflow"`,
		"the switch is recorded by %s, and %q is no campaign", byCampaign, clip(s.To.Text))}
}

// noWorkflow is the problem of a path that leads nowhere.
func noWorkflow(at Ref, subject string) small.Problem {
	return problem(at.Pos, subject, "give the path of its workflow.md, from the repository's root, from the folder that holds \"workflows\", or from one above the record",
		"there is no workflow %q", clip(at.Text))
}

func (s *Switch) checkTarget(before *Switch, find FindWorkflow) []small.Problem {
	var out []small.Problem
	if _, there := find(s.From.Text); before == nil && !there { // else the chain leads there
		out = append(out, noWorkflow(s.From, s.subject+".from"))
	}
	to, there := find(s.To.Text)
	if !there {
		return append(out, noWorkflow(s.To, s.subject+".to"))
	}
	if to != nil && s.ToPhase.Text != "" && !to.HasPhase(s.ToPhase.Text) {
		out = append(out, problem(s.ToPhase.Pos, s.subject+".toPhase", "name one of its phases, or leave toPhase out to begin at "+clip(to.Initial),
			"the workflow %q has no phase %q", clip(s.To.Text), clip(s.ToPhase.Text)))
	}
	from, there := find(s.From.Text)
	if there && from != nil && s.FromPhase.Text != "" && !from.HasPhase(s.FromPhase.Text) {
		out = append(out, problem(s.FromPhase.Pos, s.subject+".fromPhase", "name the phase that the work was in",
			"the workflow %q has no phase %q", clip(s.From.Text), clip(s.FromPhase.Text)))
	}
	return out
}

func (s *Switch) checkNoCampaign(find FindWorkflow) []small.Problem {
	if !isCampaign(s.To.Text, find) && s.By.Text != byCampaign {
		return nil
	}
	at := s.To
	if s.By.Text == byCampaign {
		at = s.By
	}
	return []small.Problem{problem(at.Pos, s.subject, "give the campaign above it the further jobs",
		"the job is a campaign's child (params.epicAllowed is false) and became a campaign itself")}
}

func isCampaign(file string, find FindWorkflow) bool {
	if w, _ := find(file); w != nil {
		return strings.EqualFold(w.Kind, campaignWorkflow) || w.Name == campaignWorkflow || w.fansOut()
	}
	return slices.Contains([]string{path.Base(file), path.Base(path.Dir(file))}, campaignWorkflow)
}

// fansOut reports whether a workflow has the phases of a campaign, whatever it
// calls itself.
func (w *Workflow) fansOut() bool {
	steps := shapes[campaignWorkflow].steps
	return !slices.ContainsFunc(steps, func(step []string) bool { return !slices.ContainsFunc(step, w.HasPhase) })
}

// checkActive holds the workflow that is active against the last switch.
func (r *Record) checkActive(find FindWorkflow) []small.Problem {
	if len(r.Switches) == 0 {
		if r.NoCampaign && r.WorkflowPath.Text != "" && isCampaign(r.WorkflowPath.Text, find) {
			return []small.Problem{problem(r.WorkflowPath.Pos, "workflowPath", "give the campaign above it the further jobs",
				"the job is a campaign's child (params.epicAllowed is false) and runs as a campaign")}
		}
		if _, there := find(r.WorkflowPath.Text); r.WorkflowPath.Text != "" && !there {
			return []small.Problem{noWorkflow(r.WorkflowPath, "workflowPath")}
		}
		return nil
	}
	last := r.Switches[len(r.Switches)-1]
	switch {
	case r.WorkflowPath.Text == "":
		return []small.Problem{problem(last.To.Pos, "workflowPath", "add the key workflowPath",
			"the record does not say which workflow is active; the last switch was to %q", clip(last.To.Text))}
	case !sameWorkflow(r.WorkflowPath.Text, last.To.Text, find):
		return []small.Problem{problem(r.WorkflowPath.Pos, "workflowPath", "append the switch that led there",
			"the active workflow is %q, and the last switch was to %q", clip(r.WorkflowPath.Text), clip(last.To.Text))}
	}
	return nil
}

// Places lists where a workflow may lie that a record names, from the root of
// the tree, in the order in which they are tried: the path as written; from each
// root; and from each folder above the record. A record may name the folder of a
// workflow instead of its file.
func (r *Record) Places(workflow string, roots []string) []string {
	clean := path.Clean(workflow)
	if workflow == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil
	}
	folders := append([]string{""}, roots...)
	for dir := path.Dir(r.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
		folders = append(folders, dir)
	}
	var out []string
	for _, folder := range folders {
		at := path.Join(folder, clean)
		out = append(out, at, path.Join(at, "workflow.md"))
	}
	return out
}

// Names reports whether a record that names a workflow by a path, seen from the
// folder that holds "workflows", means the file at another.
func Names(name, file string) bool {
	clean := path.Clean(name)
	if clean == "." || path.IsAbs(clean) {
		return false
	}
	for _, end := range []string{clean, path.Join(clean, "workflow.md")} {
		if file == end || strings.HasSuffix(file, "/"+end) {
			return true
		}
	}
	return false
}
