package ledger

import (
	"slices"
	"strings"
)

// The task_ids of the entries with which the protocol's program replaces a run's plan: `small reset` and `small plan --reset`.
const (
	resetTask     = "reset"
	planResetTask = "plan-reset"
)

// RunBegun reports whether an entry belongs to the run with a replay id. Upper and lower case are the same.
func (l *Ledger) RunBegun(id string) bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return strings.EqualFold(e.ReplayID, id) })
}

// RunOver reports whether the log shows that the run with a replay id is over: its plan was reset, or another run
// began after an entry of it. Upper and lower case are the same.
func (l *Ledger) RunOver(id string) bool {
	begun := false
	for _, e := range l.Entries {
		switch {
		case e.ReplayID == "":
		case !strings.EqualFold(e.ReplayID, id):
			if begun {
				return true
			}
		case e.Resets():
			return true
		default:
			begun = true
		}
	}
	return false
}

// ResetLast reports whether no run has begun since the log's plan was reset: only bookkeeping came after it.
func (l *Ledger) ResetLast() bool {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		task, bookkeeping := strings.CutPrefix(l.Entries[i].TaskID, MetaPrefix)
		if resets(task) {
			return true // also where the program that has written it has reassigned it since
		}
		if !bookkeeping {
			return false
		}
	}
	return false
}

// Resets reports whether an entry replaces the run's plan.
func (e Entry) Resets() bool { return resets(e.TaskID) }

func resets(task string) bool { return task == resetTask || task == planResetTask }

// HasRun reports whether an entry is bound to the run with a replay id.
func (l *Ledger) HasRun(id string) bool {
	for _, e := range l.Entries {
		if e.ReplayID != "" && strings.EqualFold(e.ReplayID, id) {
			return true
		}
	}
	return false
}
