package html

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
)

const (
	// valueWidth is the number of columns that are shown of a value.
	valueWidth = 240
	// maxSideRows is the largest number of entries that are listed for one side of a fork.
	maxSideRows = 100
)

// card is one finding.
type card struct {
	ID, Class, Title, More string
	Single                 bool
	Fix                    []content.Step
	Facts                  []fact
	Changes                []content.Change
	MoreChanges            string
	// Common says how many entries two branches share; Sides has the other entries of each.
	Common string
	Sides  []side
}

type side struct {
	Name    string
	Entries []string
}

// cardOf returns the card of a finding. It leaves out what the group's first finding shows already.
func (p *page) cardOf(f numbered, g *group, first *finding.Finding) card {
	out := card{
		ID: f.id(), Class: f.class(), Single: g.Single, Facts: p.factsOf(f, first),
	}
	out.Title, out.More = titleOf(f.Message)
	if f.Fix != first.Fix && !f.waived {
		out.Fix = content.Steps(f.Fix)
	}
	var more int
	if out.Changes, more = content.Changes(f.Finding, valueWidth, content.MaxChanges); more > 0 {
		out.MoreChanges = content.MoreFields(f.Finding, more)
	}
	if len(f.Sides) == 2 {
		out.More = "" // the sides list their entries
		if f.Common.Count > 0 {
			out.Common = wording.Count(f.Common.Count, "entry")
		}
		for i := range f.Sides {
			out.Sides = append(out.Sides, sideOf(&f.Sides[i]))
		}
	}
	return out
}

// titleOf splits a message that is too long for a title at its first colon; more is the rest.
func titleOf(message string) (title, more string) {
	const most = 200 // bytes
	if head, rest, found := strings.Cut(message, ": "); found && len(message) > most && len(head) < most {
		title, more = head, content.UpperFirst(content.Text(rest))
	} else {
		title = message
	}
	return content.UpperFirst(content.Text(title)), more
}

func (p *page) factsOf(f numbered, first *finding.Finding) []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{Name: name, Value: value})
		}
	}
	if f.waived {
		add("waived", content.NameOr(f.Reason, "no reason given"))
	}
	if f.Path != "" {
		add("place", fmt.Sprintf("line %d, column %d", max(f.Line, 1), max(f.Column, 1)))
	}
	if f.Entry != nil {
		add(content.EntryKind(f.Entry), entryFact(f.Entry))
	}
	if f.EntryAfter != nil && f.Entry != nil && (f.EntryAfter.Index != f.Entry.Index || content.EntryLabel(f.EntryAfter) != content.EntryLabel(f.Entry)) {
		add("now", entryFact(f.EntryAfter))
	} else if f.Entry == nil && f.EntryAfter != nil {
		add(content.EntryKind(f.EntryAfter), entryFact(f.EntryAfter))
	}
	if f.Commit != first.Commit || f.Parent != first.Parent {
		c := content.CommitOf(p.report, f.Commit)
		out = append(out, fact{Name: "commit", Value: strings.TrimSpace(c.ID + " " + c.Subject), Link: c.Page})
	}
	add("fingerprint", content.Fingerprint(f.Finding))
	return out
}

func entryFact(e *finding.EntryRef) string {
	return strings.TrimLeft(strings.TrimPrefix(content.Entry(e), content.EntryKind(e)), ": ")
}

func sideOf(s *finding.Side) side {
	out := side{Name: content.NameOr(s.Name, "no name") + ": " + wording.Count(s.Count(), "entry") + " missing on the other side"}
	entries, more := content.First(s, maxSideRows)
	for i := range entries {
		out.Entries = append(out.Entries, content.Entry(&entries[i]))
	}
	if more > 0 {
		out.Entries = append(out.Entries, "… and "+wording.Count(more, "more entry"))
	}
	return out
}
