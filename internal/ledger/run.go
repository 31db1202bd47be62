package ledger

import (
	"slices"
	"strings"
)

// The task_ids of the entries that `small reset` and `small plan --reset` write when they replace a run's plan.
const (
	resetTask     = "reset"
	planResetTask = "plan-reset"
)

// RunOver reports whether the log shows that a run is over: its plan was reset, or another run began after one of its entries. id is its
// replay id, whose case does not matter.
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

// EndsWithReset reports whether the log's plan was reset and only bookkeeping came after it.
func (l *Ledger) EndsWithReset() bool {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		task, bookkeeping := strings.CutPrefix(l.Entries[i].TaskID, MetaPrefix)
		if isResetTask(task) {
			return true // also meta/reset: `small start --fix` renames reset to that
		}
		if !bookkeeping {
			return false
		}
	}
	return false
}

// Resets reports whether an entry records that the run's plan was replaced.
func (e Entry) Resets() bool { return isResetTask(e.TaskID) }

func isResetTask(task string) bool { return task == resetTask || task == planResetTask }

// HasRun reports whether an entry belongs to the run with a replay id. Case does not matter.
func (l *Ledger) HasRun(id string) bool {
	return id != "" && slices.ContainsFunc(l.Entries, func(e Entry) bool { return strings.EqualFold(e.ReplayID, id) })
}
