package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/wording"
)

// What the templates are given. Every text in it is clean and bounded; the
// templates escape it for HTML.

// maxValue is how many characters of a value a line on a page shows.
const maxValue = 240

type pageHead struct {
	Policy                      string
	Style                       template.CSS
	Class, Sign, Words, Summary string
	Facts                       []fact
	Notes                       []string
	Failure                     *pageFailure
}

type fact struct{ Name, Value string }

type pageFailure struct{ Message, Remedy string }

type pageFinding struct {
	ID, Class, Severity, Rule, Page, Message, Where, Fix string
	Number                                               int
	Facts                                                []fact
	Changes                                              []pageChange
	MoreChanges                                          string
	Fork                                                 *timeline
	Sides                                                []pageSide
	Why                                                  []string
}

type pageChange struct{ Field, Note, Before, After string }

type pageSide struct {
	Name    string
	Entries []string
}

type pageTail struct{ Version, Left string }

// numberedFinding is a finding with its place on the page.
type numberedFinding struct {
	number  int
	finding *finding.Finding
	// explain is true for the first of its rule.
	explain bool
}

func (f numberedFinding) id() string { return "f" + strconv.Itoa(f.number) }

// findingNumbers are the findings that a page tells, the gravest first.
type findingNumbers struct {
	shown, waived        []numberedFinding
	hidden, hiddenWaived int
}

func numbered(r *finding.Report) findingNumbers {
	var out findingNumbers
	explained := map[string]bool{}
	n := 0
	add := func(list []numberedFinding, f *finding.Finding) []numberedFinding {
		n++
		list = append(list, numberedFinding{number: n, finding: f, explain: !explained[f.Rule]})
		explained[f.Rule] = true
		return list
	}
	for _, f := range bySeverity(r.Findings) {
		if n == maxPageFindings {
			out.hidden++
			continue
		}
		out.shown = add(out.shown, f)
	}
	for i := range r.Waived {
		if n == maxPageFindings {
			out.hiddenWaived++
			continue
		}
		out.waived = add(out.waived, &r.Waived[i])
	}
	return out
}

func leftWords(r *finding.Report, findings, logs int) string {
	var parts []string
	if findings > 0 {
		parts = append(parts, wording.Count(findings, "more finding"))
	}
	if logs > 0 {
		parts = append(parts, wording.Count(logs, "more log"))
	}
	words := ""
	if len(parts) > 0 {
		words = strings.Join(parts, " and ") + "; " + seeRest(r) + "."
	}
	if more := unlisted(r); more != "" {
		words = strings.TrimSpace(words + " " + upperFirst(more) + ".")
	}
	return words
}

func pageHeadOf(r *finding.Report) pageHead {
	words, color := outcomeWords(r)
	if verdict(r) == finding.Error && len(r.Findings) == 0 {
		words = "could not judge"
	}
	out := pageHead{
		Policy: contentPolicy(), Style: template.CSS(pageStyle), // the project's own style sheet
		Words: words, Class: map[style]string{green: "good", yellow: "warn", red: "bad"}[color],
		Sign: map[style]string{green: "✓", yellow: "!", red: "✗"}[color], Summary: summaryWords(r) + ".",
	}
	for _, f := range []fact{{"command", r.Mode}, {"base", r.Examined.Base}, {"head", r.Examined.Head}, {"policy", r.Examined.Policy}, {"read by", r.Examined.Reader}} {
		if f.Value != "" {
			out.Facts = append(out.Facts, fact{f.Name, clip(f.Value, maxText)})
		}
	}
	if len(r.Findings) > 0 {
		out.Facts = append(out.Facts, fact{"found", countRules(bySeverity(r.Findings))})
	}
	if r.Strict {
		out.Facts = append(out.Facts, fact{"strict", "yes"})
	}
	if r.Lane != nil {
		out.Facts = append(out.Facts, fact{"lane", laneWords(r.Lane)})
	}
	for i, note := range r.Examined.Notes {
		if i == maxRows {
			break
		}
		out.Notes = append(out.Notes, clip(note, maxText))
	}
	if f := failureOf(r); f != nil {
		out.Failure = &pageFailure{Message: upperFirst(clip(strings.TrimSpace(f.Message), maxText)), Remedy: lines(f.Remedy)}
	}
	return out
}

func pageFindingOf(n numberedFinding, class string) pageFinding {
	f := n.finding
	out := pageFinding{
		ID: n.id(), Number: n.number, Class: class, Severity: severityWord(f), Rule: clip(f.Rule, maxName),
		Message: upperFirst(clip(f.Message, maxText)), Fix: lines(f.Fix),
	}
	if class == "" {
		out.Class = findingClass(f)
	}
	if f.Path != "" {
		out.Where = fmt.Sprintf("%s:%d:%d", clip(f.Path, maxPath), max(f.Line, 1), max(f.Column, 1))
	}
	if rule, known := rules.Find(f.Rule); known {
		out.Page = rulePage(rule.ID)
		if n.explain {
			out.Why = strings.Split(unwrap(rule.Why), "\n\n")
		}
	}
	out.Facts = findingFacts(f, class == "waived")
	changes := f.Changes
	if isWhole(f) {
		out.Changes, changes = []pageChange{pageEntryOf(f)}, nil
	}
	for i := range changes {
		if i == maxChanges {
			out.MoreChanges = "… and " + wording.Count(len(f.Changes)-i+f.MoreChanges, "more field") + "; " + seeAll
			break
		}
		out.Changes = append(out.Changes, pageChangeOf(&f.Changes[i]))
	}
	if len(f.Sides) == 2 {
		out.Fork = drawSides(f.Sides)
		for i := range f.Sides {
			out.Sides = append(out.Sides, pageSideOf(&f.Sides[i]))
		}
	}
	return out
}

func findingClass(f *finding.Finding) string {
	if f.Severity == finding.SeverityError {
		return "bad"
	}
	return "warn"
}

func findingFacts(f *finding.Finding, waived bool) []fact {
	var out []fact
	if waived {
		out = append(out, fact{"waived", orNone(f.Reason, "no reason given")})
	}
	if f.Entry != nil {
		out = append(out, fact{entryKind(f.Entry), entryFact(f.Entry)})
	}
	if f.EntryAfter != nil {
		out = append(out, fact{"now", entryFact(f.EntryAfter)})
	}
	if f.Commit != "" {
		out = append(out, fact{"commit", clip(f.Commit, maxName)})
	}
	if f.Parent != "" {
		out = append(out, fact{"compared with", clip(f.Parent, maxName)})
	}
	if id := strings.TrimPrefix(fingerprint(f), "; fingerprint "); id != "" {
		out = append(out, fact{"fingerprint", id})
	}
	return out
}

func entryFact(e *finding.EntryRef) string {
	return fmt.Sprintf("%d: %s", e.Index+1, entryLabel(e))
}

// pageEntryOf shows an entry that is gone or was put in.
func pageEntryOf(f *finding.Finding) pageChange {
	const none = "(not there)"
	text := strings.Join(wholeEntry(f), "\n")
	if f.Changes[0].HasTo {
		return pageChange{Field: "the entry", Before: none, After: text}
	}
	return pageChange{Field: "the entry", Before: text, After: none}
}

func pageChangeOf(c *ledger.FieldChange) pageChange {
	d := fieldDifference(c, maxValue)
	out := pageChange{
		Field: orNone(c.Field, "the entry"), Note: d.note,
		Before: strings.Join(d.removed, "\n"), After: strings.Join(d.added, "\n"),
	}
	if !c.HasFrom {
		out.Before = "(not there)"
	}
	if !c.HasTo {
		out.After = "(not there)"
	}
	return out
}

func pageSideOf(s *finding.Side) pageSide {
	out := pageSide{Name: orNone(s.Name, "no name") + ": " + entryCount(s.Count()) + " missing on the other side"}
	for i := range s.Entries {
		if i == maxRows {
			out.Entries = append(out.Entries, "… and "+entryCount(s.Count()-i)+" more")
			break
		}
		out.Entries = append(out.Entries, entryWords(&s.Entries[i]))
	}
	return out
}
