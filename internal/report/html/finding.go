package html

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// valueWidth is how many columns of a value are shown.
	valueWidth = 240
	// maxSideRows is how many entries of one side of a fork are listed.
	maxSideRows = 100
)

type findingSection struct {
	ID, Class, Severity, Rule, Page, Message, Where, Fix string
	Number                                               int
	Facts                                                []fact
	Changes                                              []change
	MoreChanges                                          string
	Fork                                                 *timeline
	Sides                                                []side
	Why                                                  []string
}

type change struct{ Field, Note, Before, After string }

type side struct {
	Name    string
	Entries []string
}

// numbered is a finding with its number on the page.
type numbered struct {
	*finding.Finding
	number int
	waived bool
	// explain is true for the first finding of its rule.
	explain bool
}

func (f numbered) id() string { return "f" + strconv.Itoa(f.number) }

// number lists the findings that the page shows, errors first, and counts the others.
func (p *page) number(r *finding.Report) (findings, waived []numbered) {
	explained := map[string]bool{}
	n := 0
	add := func(list []numbered, f *finding.Finding, waived bool) []numbered {
		if n == maxFindings {
			p.hiddenFindings++
			return list
		}
		n++
		first := !explained[f.Rule]
		explained[f.Rule] = true
		return append(list, numbered{Finding: f, number: n, waived: waived, explain: first})
	}
	for _, f := range content.BySeverity(r.Findings) {
		findings = add(findings, f, false)
	}
	for i := range r.Waived {
		waived = add(waived, &r.Waived[i], true)
	}
	return findings, waived
}

func findingOf(f numbered) findingSection {
	out := findingSection{
		ID: f.id(), Number: f.number, Class: string(content.LevelOf(f.Finding)), Severity: string(f.Severity), Rule: content.Name(f.Rule),
		Message: content.UpperFirst(content.Text(f.Message)), Fix: content.Lines(f.Fix), Facts: factsOf(f),
	}
	if f.waived {
		out.Class = "waived"
	}
	if f.Path != "" {
		out.Where = fmt.Sprintf("%s:%d:%d", content.Path(f.Path), max(f.Line, 1), max(f.Column, 1))
	}
	if rule, known := rules.Find(f.Rule); known {
		out.Page = content.RulePage(rule.ID)
		if f.explain {
			out.Why = content.Paragraphs(rule.Why)
		}
	}
	changes, more := content.Changes(f.Finding, valueWidth, content.MaxChanges)
	for i := range changes {
		out.Changes = append(out.Changes, changeOf(&changes[i]))
	}
	if more > 0 {
		out.MoreChanges = content.MoreFields(f.Finding, more)
	}
	if len(f.Sides) == 2 {
		out.Fork = drawSides(f.Sides)
		for i := range f.Sides {
			out.Sides = append(out.Sides, sideOf(&f.Sides[i]))
		}
	}
	return out
}

func factsOf(f numbered) []fact {
	var out []fact
	if f.waived {
		out = append(out, fact{"waived", content.NameOr(f.Reason, "no reason given")})
	}
	if f.Entry != nil {
		out = append(out, fact{content.EntryKind(f.Entry), entryFact(f.Entry)})
	}
	if f.EntryAfter != nil {
		out = append(out, fact{"now", entryFact(f.EntryAfter)})
	}
	for _, f := range []fact{{"commit", content.Name(f.Commit)}, {"compared with", content.Name(f.Parent)}, {"fingerprint", content.Fingerprint(f.Finding)}} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

func entryFact(e *finding.EntryRef) string {
	return fmt.Sprintf("%d: %s", e.Index+1, content.EntryLabel(e))
}

func changeOf(c *content.Change) change {
	const none = "(not there)"
	out := change{Field: c.Field, Note: c.Bracketed(), Before: strings.Join(c.Removed, "\n"), After: strings.Join(c.Added, "\n")}
	if c.IsWhole() {
		out.Field = "the entry"
	}
	if !c.HasFrom {
		out.Before = none
	}
	if !c.HasTo {
		out.After = none
	}
	return out
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
