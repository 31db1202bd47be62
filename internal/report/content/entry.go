package content

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// EntryKind is what an entry is called: the lists of jobs' records have switches.
func EntryKind(e *finding.EntryRef) string {
	if e.Switch {
		return "switch"
	}
	return "entry"
}

// OnlyDigest reports whether only the digest of an entry is known: a witness saw it, and no file at hand has it.
func OnlyDigest(e *finding.EntryRef) bool { return e.Line == 0 && e.TaskID == "" && e.Timestamp == "" }

// EntryLabel is an entry's task and time; a switch has a time alone.
func EntryLabel(e *finding.EntryRef) string {
	if OnlyDigest(e) {
		return e.Digest.String()
	}
	at := NameOr(e.Timestamp, "no timestamp")
	if e.Switch {
		return at
	}
	return NameOr(e.TaskID, "no task_id") + ", " + at
}

// Entry names an entry as people count, from 1.
func Entry(e *finding.EntryRef) string {
	return fmt.Sprintf("%s %d: %s", EntryKind(e), e.Index+1, EntryLabel(e))
}

// AboutEntry names the entry that a finding is about, and its edit by the
// fingerprint that `small-hook waive` takes; empty where there is neither.
func AboutEntry(f *finding.Finding, label func(*finding.EntryRef) string) string {
	id := Fingerprint(f)
	if id != "" {
		id = "fingerprint " + id
	}
	before, after := f.Entry, f.EntryAfter
	if before == nil {
		before, after = after, nil
	}
	if before == nil {
		if len(f.Sides) > 0 {
			return ""
		}
		return id
	}
	words := fmt.Sprintf("%s %d", EntryKind(before), before.Index+1)
	if after != nil && after.Index != before.Index {
		words += fmt.Sprintf(" (now %s %d)", EntryKind(after), after.Index+1)
	}
	words += ": " + label(before)
	if id != "" {
		words += "; " + id
	}
	return words
}

// Fingerprint is the beginning of the finding's, where it speaks of an edit.
func Fingerprint(f *finding.Finding) string {
	const digits = 12
	if f.EditFrom == "" && f.EditTo == "" {
		return ""
	}
	return f.Fingerprint()[:digits]
}

// Compared says which state is wrong, and against which; empty where the finding
// names none. show writes an id.
func Compared(f *finding.Finding, show func(string) string) string {
	switch {
	case f.Commit != "" && f.Parent != "":
		return "commit " + show(f.Commit) + ", compared with " + show(f.Parent)
	case f.Commit != "":
		return "commit " + show(f.Commit)
	case f.Parent != "":
		return "not committed yet, compared with " + show(f.Parent)
	}
	return ""
}

// Abbreviate shortens an object id to what people read and git accepts.
func Abbreviate(id string) string {
	if len(id) > 12 && strings.Trim(id, "0123456789abcdef") == "" {
		return id[:12]
	}
	return Name(id)
}

// First is the first entries of one side of a fork, and how many more it has.
func First(s *finding.Side, most int) (entries []finding.EntryRef, more int) {
	entries = s.Entries[:min(len(s.Entries), most)]
	return entries, s.Count() - len(entries)
}
