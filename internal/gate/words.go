package gate

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// entryWords names an entry for people: number, task and time; a switch has no
// task.
func entryWords(e small.Entry) string {
	if e.Switch {
		return fmt.Sprintf("switch %d (%s)", e.Index+1, e.Timestamp)
	}
	return fmt.Sprintf("entry %d (%s)", e.Index+1, entryLabel(e))
}

// entryLabel is an entry's task and time.
func entryLabel(e small.Entry) string {
	task := "no task_id"
	if e.TaskID != "" {
		task = fmt.Sprintf("%q", e.TaskID)
	}
	if e.Timestamp == "" {
		return task
	}
	return task + ", " + e.Timestamp
}

// entryList names several entries, the first few of many.
func entryList(entries []small.Entry) string {
	const most = 5
	var parts []string
	for i, e := range entries {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(entries)-most))
			break
		}
		parts = append(parts, entryWords(e))
	}
	return strings.Join(parts, "; ")
}

// at picks entries by their places.
func at(l *small.Ledger, places []int) []small.Entry {
	out := make([]small.Entry, len(places))
	for i, place := range places {
		out[i] = l.Entries[place]
	}
	return out
}

func count(n int, noun string) string { return wording.Count(n, noun) }

func plural(noun string) string { return wording.Plural(noun) }

// short abbreviates an object id for messages.
func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

// shellQuote writes a path so that a POSIX shell reads it as one word.
func shellQuote(s string) string { return wording.ShellWord(s) }
