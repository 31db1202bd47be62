package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// Change is the change of one field of an entry, or of a whole entry that was deleted or inserted.
type Change struct {
	// Field is the field's name; empty for a whole entry.
	Field string
	// Noun is the word for the entry.
	Noun string
	// HasFrom and HasTo say whether the field exists before and after.
	HasFrom, HasTo bool
	sanitize.Difference
}

// IsWhole reports whether the change is a whole entry.
func (c *Change) IsWhole() bool { return c.Field == "" }

// Bracketed returns the note in brackets, to follow the field.
func (c *Change) Bracketed() string {
	if c.Note == "" {
		return ""
	}
	return " (" + c.Note + ")"
}

// Changes returns the changes in a finding's entry, at most most of them, and the number of further ones. A value takes about width columns.
func Changes(f *finding.Finding, width, most int) (list []Change, more int) {
	if f.Entry != nil && f.EntryAfter == nil && len(f.Changes) > 0 {
		return []Change{wholeEntry(f)}, 0
	}
	shown := f.Changes[:min(len(f.Changes), most)]
	for i := range shown {
		list = append(list, fieldChange(&shown[i], kindOf(f), width))
	}
	return list, len(f.Changes) - len(shown) + f.MoreChanges
}

// MoreFields says how many changes of a finding are not shown, and which format lists them, if one lists all.
func MoreFields(f *finding.Finding, more int) string {
	words := "… and " + wording.Count(more, "more field")
	if f.MoreChanges == 0 {
		words += "; " + SeeAll
	}
	return words
}

// kindOf returns the word for a finding's entry.
func kindOf(f *finding.Finding) string {
	if f.Entry == nil {
		return EntryKind(&finding.EntryRef{})
	}
	return EntryKind(f.Entry)
}

func fieldChange(c *ledger.FieldChange, noun string, width int) Change {
	out := Change{Field: NameOr(c.Field, "the "+noun), Noun: noun, HasFrom: c.HasFrom, HasTo: c.HasTo}
	switch {
	case c.HasFrom && c.HasTo:
		out.Difference = sanitize.Compare(c.From, c.To, width)
	case c.HasFrom:
		out.Removed, out.Note = sanitize.Excerpt(c.From, width, sanitize.MaxLines), "removed"
	case c.HasTo:
		out.Added, out.Note = sanitize.Excerpt(c.To, width, sanitize.MaxLines), "added"
	}
	return out
}

// wholeEntry shows an entry field by field.
func wholeEntry(f *finding.Finding) Change {
	out := Change{Noun: kindOf(f), HasFrom: !f.Changes[0].HasTo, HasTo: f.Changes[0].HasTo}
	var lines []string
	shown := f.Changes[:min(len(f.Changes), maxFields)]
	for i := range shown {
		lines = append(lines, wholeField(&shown[i])...)
	}
	if more := len(f.Changes) - len(shown) + f.MoreChanges; more > 0 {
		lines = append(lines, MoreFields(f, more))
	}
	if out.HasTo {
		out.Added = lines
	} else {
		out.Removed = lines
	}
	return out
}

// wholeField returns the lines that show one field of an entry.
func wholeField(c *ledger.FieldChange) []string {
	value := c.From
	if c.HasTo {
		value = c.To
	}
	lines := sanitize.Excerpt(strings.TrimSuffix(value, "\n"), MaxText, maxLines)
	for i := range lines {
		if i > 0 {
			lines[i] = "  " + lines[i]
		} else if c.Field != "" {
			lines[i] = Name(c.Field) + ": " + lines[i]
		}
	}
	return lines
}

// ChangesInWords describes the first changes in a finding's entry, each in a sentence, for formats without a place for changes.
func ChangesInWords(f *finding.Finding) []string {
	const width, most = 160, 3
	var out []string
	changes, more := Changes(f, width, most)
	for i := range changes {
		out = append(out, changes[i].words())
	}
	if more > 0 {
		out = append(out, "And "+wording.Count(more, "more changed field")+".")
	}
	return out
}

// words describes a changed field in one line, or a whole entry in several.
func (c *Change) words() string {
	quoted := func(values []string) string { return `"` + strings.Join(values, `\n`) + `"` }
	words := "Field " + c.Field
	switch {
	case c.Field == "(the "+c.Noun+")":
		words = "The " + c.Noun
	case c.Noun == ledger.File:
		words = UpperFirst(c.Field)
	}
	switch {
	case c.IsWhole():
		return "The " + c.Noun + ":\n" + strings.Join(append(c.Removed, c.Added...), "\n")
	case !c.HasFrom:
		words += " was added: " + quoted(c.Added)
	case !c.HasTo:
		words += " was removed: " + quoted(c.Removed)
	default:
		words += ": " + quoted(c.Removed) + " became " + quoted(c.Added) + c.Bracketed()
	}
	return Sentence(words)
}
