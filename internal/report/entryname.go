package report

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// entryKind is what an entry is called: the lists of jobs' records have switches.
func entryKind(e *finding.EntryRef) string {
	if e.Switch {
		return "switch"
	}
	return "entry"
}

// entryLabel is an entry's task and time; a switch has a time alone.
func entryLabel(e *finding.EntryRef) string {
	at := orNone(e.Timestamp, "no timestamp")
	if e.Switch {
		return at
	}
	return orNone(e.TaskID, "no task_id") + ", " + at
}

// entryWords names an entry as people count, from 1.
func entryWords(e *finding.EntryRef) string {
	return fmt.Sprintf("%s %d: %s", entryKind(e), e.Index+1, entryLabel(e))
}
