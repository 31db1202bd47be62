package gate

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// task is one task of a plan as rules compare it: id and status are without the
// white space around them, as an entry's are.
type task struct {
	*small.Value
	id, status string
	// named is true if the id is a string.
	named bool
}

// tasksIn are the tasks of a plan, in order.
func tasksIn(plan *small.Value) []task {
	list := plan.Get("tasks")
	if list == nil || list.Kind != small.List {
		return nil
	}
	out := make([]task, len(list.Items))
	for i, item := range list.Items {
		out[i] = task{Value: item}
		out[i].id, out[i].named = item.Get("id").Trimmed()
		out[i].status, _ = item.Get("status").Trimmed()
	}
	return out
}

// is compares a task's status as the protocol does: without regard to case.
func (t task) is(statuses ...string) bool {
	return slices.ContainsFunc(statuses, func(want string) bool { return strings.EqualFold(t.status, want) })
}

// tasks are the tasks of the workspace's plan.
func (w *Workspace) tasks() []task { return tasksIn(w.doc(small.Plan)) }
