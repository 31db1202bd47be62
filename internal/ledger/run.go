package ledger

import (
	"slices"
	"strings"
)

// The task_ids of the entries that the protocol's program writes when it replaces a run's plan: `small reset` and `small plan --reset`.
const (
	resetTask     = "reset"
	planResetTask = "plan-reset"
)

// RunOver reports whether the log shows that the run with a replay id is over: its plan was reset, or another run
// began after an entry of it. Case does not matter.
func (l *Ledger) RunOver(id string) bool {
	seen := false
	for _, e := range l.Entries {
		switch {
		case e.ReplayID == "":
		case !strings.EqualFold(e.ReplayID, id):
			if seen {
				return true
			}
		case e.Resets():
			return true
		default:
			seen = true
		}
	}
	return false
}

// EndsWithReset reports whether no run has begun since the log's plan was reset: only bookkeeping came after it.
func (l *Ledger) EndsWithReset() bool {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		task, bookkeeping := strings.CutPrefix(l.Entries[i].TaskID, MetaPrefix)
		if isResetTask(task) {
			return true // also if the program that wrote it has reassigned it since
		}
		if !bookkeeping {
			return false
		}
	}
	return false
}

// Resets reports whether an entry replaces the run's plan.
func (e Entry) Resets() bool { return isResetTask(e.TaskID) }

func isResetTask(task string) bool { return task == resetTask || task == planResetTask }

// HasRun reports whether an entry belongs to the run with a replay id. Case does not matter.
func (l *Ledger) HasRun(id string) bool {
	return id != "" && slices.ContainsFunc(l.Entries, func(e Entry) bool { return strings.EqualFold(e.ReplayID, id) })
}
