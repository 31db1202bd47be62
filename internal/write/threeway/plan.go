package threeway

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// completed is the status of a task that is done.
const completed = "completed"

// Plan merges the plan, task by task and field by field. A task that one side completed stays completed unless the other side reopened it.
// If both sides added different tasks under one id, the task that no entry, handoff or other task names gets another id, and notes say so. If the
// sides have different runs, the plan of the run that the merged workspace.small.yml names is taken: an id means another task in another run.
func (m Merge) Plan(workspace []byte) (data []byte, notes []string, err error) {
	if run, other := m.sidesOfRuns(workspace); run != nil && run.Files[small.Plan] != nil {
		if other.Files[small.Plan] != nil {
			notes = []string{fmt.Sprintf("the plan is that of %s, whose run goes on; the plan of %s belongs to another run", run.Name, other.Name)}
		}
		return run.Files[small.Plan], notes, nil
	}
	base, ours, theirs := m.base(small.Plan), m.Ours.Files[small.Plan], m.Theirs.Files[small.Plan]
	if base != nil && (string(base) == string(ours) || string(base) == string(theirs)) || ours == nil || theirs == nil {
		data, err = m.merged(small.Plan, nil)
		return data, nil, err
	}
	f, err := m.three(small.Plan)
	if err != nil {
		return nil, nil, err
	}
	if m.Theirs.Picked {
		f.renumberAsOurs()
	}
	if notes, err = m.renumber(f, func(string) bool { return true }); err != nil {
		return nil, nil, err
	}
	data, err = m.combine(small.Plan, f, m.decidePlan)
	return data, notes, err
}

// decidePlan returns the value for a plan's field that both sides changed differently: "completed" for a status if a side has that, else the
// preferred side's value; nil if no side is preferred.
func (m Merge) decidePlan(path []string, v three) *yaml.Node {
	// Both sides changed the status, so the task was not completed at the merge base.
	if len(path) == 3 && isTasks(path[:1]) && path[2] == "status" {
		switch {
		case isCompleted(v.ours):
			return v.ours
		case isCompleted(v.theirs):
			return v.theirs
		}
	}
	if m.PreferPlan != "" {
		return v.of(m.PreferPlan)
	}
	return nil
}

func isCompleted(status *yaml.Node) bool { return strings.EqualFold(text(status), completed) }

// refersTo reports whether an entry, the handoff or another task of a side names one of its tasks.
func (v Version) refersTo(id string, tasks *yaml.Node, m Merge) bool {
	if v.Named[id] && !v.Picked || v.NamedByPublished[id] || text(get(get(m.parseOrNil(small.Handoff, v.Files[small.Handoff]), "resume"), "current_task_id")) == id {
		return true
	}
	for _, t := range items(tasks) {
		for _, needed := range items(get(t, "depends_on")) {
			if text(needed) == id {
				return true
			}
		}
	}
	return false
}

// AdoptNamed adds to our plan the tasks that theirs' new entries name, and renumbers as Plan does. The result is nil if a side has no plan, or if
// no task is named. It is for a merge of logs alone: git has no merge under way in which a file of one side could be kept.
func (m Merge) AdoptNamed() (data []byte, notes []string, err error) {
	if m.Ours.Files[small.Plan] == nil || m.Theirs.Files[small.Plan] == nil || len(m.Theirs.Named) == 0 {
		return nil, nil, nil
	}
	f, err := m.three(small.Plan)
	if err != nil {
		return nil, nil, m.withRemedy(err, "correct the file on that branch, and commit it")
	}
	if notes, err = m.renumber(f, func(id string) bool { return m.Theirs.Named[id] }); err != nil {
		return nil, nil, err
	}
	if data, err = m.adopt(f, m.Theirs.Named); err != nil {
		return nil, nil, m.withRemedy(err, "add the tasks that the new entries of "+m.Theirs.Name+" name with an editor, and commit the plan")
	}
	return data, notes, nil
}

// withRemedy replaces the remedy of err: do this, then repeat the command.
func (m Merge) withRemedy(err error, remedy string) error {
	f := *failure.Of(err)
	f.Remedy = remedy + "; then " + m.commandWith("")
	return &f
}

// Adopt adds those of theirs' tasks with some ids that ours lacks. If it lacks none, our plan is returned unchanged.
func (m Merge) Adopt(ids map[string]bool) ([]byte, error) {
	f, err := m.three(small.Plan)
	if err != nil {
		return nil, err
	}
	return m.adopt(f, ids)
}

func (m Merge) adopt(f files, ids map[string]bool) ([]byte, error) {
	tasks, theirs := get(f.ours.root, "tasks"), get(f.theirs.root, "tasks")
	if tasks == nil || tasks.Kind != yaml.SequenceNode {
		return f.ours.data, nil
	}
	before := len(tasks.Content)
	ours := byID(tasks)
	for _, t := range items(theirs) {
		if id := idOf(t); ids[id] && ours[id] == nil {
			tasks.Content = append(tasks.Content, t)
		}
	}
	if len(tasks.Content) == before && f.ours.data != nil {
		return f.ours.data, nil
	}
	tasks.Style = 0
	return m.write(small.Plan, f.ours, f.ours.root)
}

// HasDuplicates reports whether two tasks of a plan have the same id.
func HasDuplicates(plan []byte, limits small.Limits) bool {
	m := Merge{Limits: limits}
	tasks := items(get(m.parseOrNil(small.Plan, plan), "tasks"))
	ids := map[string]bool{}
	for _, t := range tasks {
		ids[idOf(t)] = true
	}
	return len(ids) < len(tasks)
}
