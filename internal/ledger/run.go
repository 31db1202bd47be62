package ledger

import "strings"

// resetTask is the task_id of the entry with which the protocol's program ends a run.
const resetTask = "reset"

// RunOver reports whether the log shows that the run with a replay id is over: after an entry of it the run was
// reset, or another run began. Upper and lower case are the same.
func (l *Ledger) RunOver(id string) bool {
	begun := false
	for _, e := range l.Entries {
		switch {
		case e.ReplayID == "":
		case !strings.EqualFold(e.ReplayID, id):
			if begun {
				return true
			}
		case e.TaskID == resetTask:
			return true
		default:
			begun = true
		}
	}
	return false
}

// HasRun reports whether an entry is bound to the run with a replay id.
func (l *Ledger) HasRun(id string) bool {
	for _, e := range l.Entries {
		if e.ReplayID != "" && strings.EqualFold(e.ReplayID, id) {
			return true
		}
	}
	return false
}
