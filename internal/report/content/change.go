package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/sanitize"
	"github.com/small-gate/small-gate/internal/wording"
)

// Change is how one field of an entry changed, or a whole entry that is gone or
// was put in.
type Change struct {
	// Field is the field's name; empty for a whole entry.
	Field string
	// HasFrom and HasTo say whether the field was there before, and is now.
	HasFrom, HasTo bool
	sanitize.Difference
}

// IsWhole reports whether it is a whole entry.
func (c *Change) IsWhole() bool { return c.Field == "" }

// Bracketed is the note in brackets, to stand behind the field.
func (c *Change) Bracketed() string {
	if c.Note == "" {
		return ""
	}
	return " (" + c.Note + ")"
}

// Changes are what changed in a finding's entry, at most so many fields, and how
// many more there are. Values are shown in about width columns.
func Changes(f *finding.Finding, width, most int) (list []Change, more int) {
	if f.Entry != nil && f.EntryAfter == nil && len(f.Changes) > 0 {
		return []Change{wholeEntry(f)}, 0
	}
	shown := f.Changes[:min(len(f.Changes), most)]
	for i := range shown {
		list = append(list, fieldChange(&shown[i], width))
	}
	return list, len(f.Changes) - len(shown) + f.MoreChanges
}

// MoreFields says how many changes of a finding are not shown, and where they are.
func MoreFields(f *finding.Finding, more int) string {
	words := "… and " + wording.Count(more, "more field")
	if more > f.MoreChanges {
		words += "; " + SeeAll
	}
	return words
}

func fieldChange(c *ledger.FieldChange, width int) Change {
	out := Change{Field: NameOr(c.Field, "the entry"), HasFrom: c.HasFrom, HasTo: c.HasTo}
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
	out := Change{HasFrom: !f.Changes[0].HasTo, HasTo: f.Changes[0].HasTo}
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

// wholeField is one field of an entry; the later lines of its value stand under
// the first.
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

// ChangesInWords are the first changes of a finding's entry, a sentence each, for formats without a place of their own for them.
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

// words is a changed field in one line, or a whole entry in several.
func (c *Change) words() string {
	quoted := func(values []string) string { return `"` + strings.Join(values, `\n`) + `"` }
	words := ""
	switch {
	case c.IsWhole():
		return "The entry:\n" + strings.Join(append(c.Removed, c.Added...), "\n")
	case !c.HasFrom:
		words = "Field " + c.Field + " was added: " + quoted(c.Added)
	case !c.HasTo:
		words = "Field " + c.Field + " was removed: " + quoted(c.Removed)
	default:
		words = "Field " + c.Field + ": " + quoted(c.Removed) + " became " + quoted(c.Added) + c.Bracketed()
	}
	return Sentence(words)
}
