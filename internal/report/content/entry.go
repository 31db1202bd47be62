package content

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
)

// EntryKind returns the word for an entry.
func EntryKind(e *finding.EntryRef) string { return cmp.Or(e.Noun, "entry") }

// EntryName names an entry by its number, from 1; a line by its number in the file; and a file only by its kind.
func EntryName(e *finding.EntryRef) string {
	switch e.Noun {
	case ledger.File:
		return e.Noun
	case ledger.Line:
		return fmt.Sprintf("line %d", e.Line)
	}
	return fmt.Sprintf("%s %d", EntryKind(e), e.Index+1)
}

// OnlyDigest reports whether nothing but an entry's digest identifies it: it is no entry of the protocol's log, or only a witness has seen it.
func OnlyDigest(e *finding.EntryRef) bool {
	return (e.Line == 0 || e.Noun != "") && e.TaskID == "" && e.Timestamp == ""
}

// EntryLabel returns an entry's task and time; a switch has only a time, and an entry of another log than the protocol's has its digest.
func EntryLabel(e *finding.EntryRef) string {
	if OnlyDigest(e) {
		return e.Digest.String()
	}
	at := NameOr(e.Timestamp, "no timestamp")
	if e.Noun == ledger.Switch {
		return at
	}
	return NameOr(e.TaskID, "no task_id") + ", " + at
}

// Entry names an entry as people count, from 1.
func Entry(e *finding.EntryRef) string {
	return EntryName(e) + ": " + EntryLabel(e)
}

// AboutEntry names the entry of a finding, unless the message does, and the fingerprint with which `small-hook waive` names the edit; empty if there is
// neither.
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
	words, now := EntryName(before), ""
	if after != nil && EntryName(after) != words {
		now = "now " + EntryName(after)
	}
	// The message names the entry, or the fingerprint does.
	if strings.Contains(f.Message, words+" (") || OnlyDigest(before) && before.Noun != "" && id != "" {
		return joined(now, id)
	}
	if now != "" {
		words += " (" + now + ")"
	}
	return joined(words+": "+label(before), id)
}

// joined joins two texts with a semicolon. Either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// Fingerprint returns the beginning of a finding's fingerprint, if it is about an edit.
func Fingerprint(f *finding.Finding) string {
	if f.EditFrom == "" && f.EditTo == "" {
		return ""
	}
	return f.Fingerprint()[:finding.ShownFingerprint]
}

// Compared says which commit is wrong, and with which it was compared; empty if the finding names none. show formats an id.
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

// First returns the first entries of one side of a fork, at most most, and the number of further ones.
func First(s *finding.Side, most int) (entries []finding.EntryRef, more int) {
	entries = s.Entries[:min(len(s.Entries), most)]
	return entries, s.Count() - len(entries)
}
