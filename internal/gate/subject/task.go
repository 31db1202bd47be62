package subject

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Task is one task of a plan. ID and Status are trimmed, as an entry's are.
type Task struct {
	*small.Value
	ID, Status string
	// Named is true if the id is a string.
	Named bool
}

func tasksIn(plan *small.Value) []Task {
	list := plan.Get("tasks")
	if list == nil || list.Kind != small.List {
		return nil
	}
	out := make([]Task, len(list.Items))
	for i, item := range list.Items {
		out[i] = Task{Value: item}
		out[i].ID, out[i].Named = item.Get("id").Trimmed()
		out[i].Status, _ = item.Get("status").Trimmed()
	}
	return out
}

// Is compares the status as the protocol does: without regard to case.
func (t Task) Is(statuses ...string) bool {
	return slices.ContainsFunc(statuses, func(want string) bool { return strings.EqualFold(t.Status, want) })
}

// TasksOf are a plan's tasks by id, and the ids in order.
func TasksOf(plan *small.Value) (map[string]*Task, []string) {
	tasks := map[string]*Task{}
	var order []string
	for _, t := range tasksIn(plan) {
		if t.Named && tasks[t.ID] == nil {
			tasks[t.ID] = &t
			order = append(order, t.ID)
		}
	}
	return tasks, order
}
