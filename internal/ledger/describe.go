package ledger

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Describe names an entry for people: number, task and time. It holds text of the file.
func Describe(e Entry) string {
	if e.Switch {
		return fmt.Sprintf("switch %d (%s)", e.Index+1, e.Timestamp)
	}
	return fmt.Sprintf("entry %d (%s)", e.Index+1, entryLabel(e))
}

func entryLabel(e Entry) string {
	task := "no task_id"
	if e.TaskID != "" {
		task = fmt.Sprintf("%q", e.TaskID)
	}
	if e.Timestamp == "" {
		return task
	}
	return task + ", " + e.Timestamp
}

// DescribeAll names several entries, the first few of many.
func DescribeAll(entries []Entry) string {
	const most = 5
	var parts []string
	for i, e := range entries {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(entries)-most))
			break
		}
		parts = append(parts, Describe(e))
	}
	return strings.Join(parts, "; ")
}

// Pick returns the entries at some indexes.
func Pick(l *Ledger, indexes []int) []Entry {
	out := make([]Entry, len(indexes))
	for i, index := range indexes {
		out[i] = l.Entries[index]
	}
	return out
}

// DigestText writes a digest; empty for nil.
func DigestText(d *small.Digest) string {
	if d == nil {
		return ""
	}
	return d.String()
}
