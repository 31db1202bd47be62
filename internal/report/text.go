package report

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/wording"
)

// The bounds of what text shows. Whoever needs everything takes json.
const (
	maxFindings = 50  // findings shown in full
	maxInGroup  = 3   // of one rule in one file and commit
	maxPlaces   = 10  // lines named of the rest of such a group
	maxWaived   = 10  // waived findings, one line each
	maxChanges  = 8   // fields of one finding
	maxFields   = 30  // fields of an entry that is gone or was put in
	maxFixLines = 12  // lines of one fix or remedy
	maxText     = 600 // characters of one message or line of a fix
	maxPath     = 400 // characters of one path
	maxName     = 100 // characters of a task id, a timestamp, a field

	defaultWidth = 100
	minWidth     = 40
)

const seeAll = "--format json lists all"

// seeRest says where the findings are that a format leaves out.
func seeRest(r *finding.Report) string {
	if r.More == (finding.Counts{}) {
		return seeAll
	}
	return "--format json lists " + strconv.Itoa(len(r.Findings)+len(r.Waived))
}

// unlisted says how many findings the report counts and does not hold; empty
// where it holds all.
func unlisted(r *finding.Report) string {
	if r.More == (finding.Counts{}) {
		return ""
	}
	words := wording.Count(r.More.Errors, "error") + ", " + wording.Count(r.More.Warnings, "warning")
	if r.More.Waived > 0 {
		words += fmt.Sprintf(", %d waived", r.More.Waived)
	}
	return wording.Count(r.More.Errors+r.More.Warnings+r.More.Waived, "more finding") + " (" + words + "): too many to list in any format, and counted all the same"
}

// style is an ANSI colour.
type style string

const (
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// text writes for a person, at the moment of rejection.
type text struct {
	buf   *bytes.Buffer
	color bool
	// where says where the findings are that are not shown.
	where string
	// width is how many characters of a value one line may show.
	width int
}

func renderText(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	if opts.Quiet && r.Verdict == finding.Pass && r.Failure == nil && len(r.Findings) == 0 {
		return nil
	}
	t := &text{buf: buf, color: opts.Color, width: defaultWidth, where: seeRest(r)}
	if opts.Width > 0 {
		t.width = max(opts.Width-len("    - "), minWidth)
	}
	t.findings(r.Findings)
	t.waived(r.Waived)
	if words := unlisted(r); words != "" {
		t.line(words)
		t.line()
	}
	if f := failureOf(r); f != nil {
		t.line(t.paint(red, "cannot judge:"), " ", clip(strings.TrimSpace(f.Message), maxText))
		t.block("  fix: ", f.Remedy)
	}
	if verdict(r) != finding.Error || len(r.Findings) > 0 {
		t.summary(r)
	}
	return nil
}

// line ends one line. Its parts are sanitised, but a command could still come
// about where two of them meet.
func (t *text) line(parts ...string) {
	line := strings.Join(parts, "")
	if opensCommand(line) {
		t.buf.WriteByte('\\')
	}
	t.buf.WriteString(line)
	t.buf.WriteByte('\n')
}

func (t *text) paint(s style, words string) string {
	if !t.color {
		return words
	}
	return "\x1b[" + string(s) + "m" + words + "\x1b[0m"
}

// block writes advice of one or more lines, the later ones under the first.
func (t *text) block(label, advice string) {
	advice = strings.TrimSpace(advice)
	if advice == "" {
		return
	}
	lines := strings.Split(strings.ReplaceAll(advice, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if i == maxFixLines {
			t.line(indent(label), more(strings.Join(lines[i:], "\n")))
			return
		}
		if i == 0 {
			t.line(t.paint(bold, label), clip(line, maxText))
		} else {
			t.line(indent(label), clip(line, maxText))
		}
	}
}

func indent(label string) string { return strings.Repeat(" ", len(label)) }

// findings writes them group by group, until there are enough.
func (t *text) findings(all []finding.Finding) {
	shown, left := 0, len(all)
	for _, group := range groups(all) {
		if shown == maxFindings {
			break
		}
		n := min(len(group), maxInGroup, maxFindings-shown)
		t.group(group, n)
		t.line()
		shown += n
		left -= len(group)
	}
	if left > 0 {
		t.line("… and ", wording.Count(left, "more finding"), "; ", t.where)
		t.line()
	}
}

// groups puts findings together that differ in the place alone: the same rule,
// commit and file. What blocks comes first, since not everything may be shown.
func groups(all []finding.Finding) [][]*finding.Finding {
	type key struct {
		severity                   finding.Severity
		rule, path, commit, parent string
	}
	var out [][]*finding.Finding
	at := map[key]int{}
	for _, blocking := range []bool{true, false} {
		for i := range all {
			f := &all[i]
			if (f.Severity == finding.SeverityError) != blocking {
				continue
			}
			k := key{f.Severity, f.Rule, f.Path, f.Commit, f.Parent}
			n, known := at[k]
			if !known {
				n = len(out)
				at[k] = n
				out = append(out, nil)
			}
			out[n] = append(out[n], f)
		}
	}
	return out
}

// group writes the first n findings of one group and names the places of the
// rest. What they have in common stands once, at the end.
func (t *text) group(group []*finding.Finding, n int) {
	for i, f := range group[:n] {
		t.line(place(f), t.severity(f), " [", clip(f.Rule, maxName), "]: ", clip(f.Message, maxText))
		t.entries(f)
		t.changes(f)
		t.fork(f)
		if i+1 < n {
			if f.Fix != group[i+1].Fix {
				t.block("  fix: ", f.Fix)
			}
			continue
		}
		t.closing(f, group[n:])
	}
}

// closing says what the findings of a group have in common: how many are not
// shown, which states were compared, what to do.
func (t *text) closing(f *finding.Finding, hidden []*finding.Finding) {
	t.rest(hidden)
	t.commit(f)
	t.block("  fix: ", f.Fix)
}

// place is where a finding is, with the colon that ends it; empty for one that
// has no place.
func place(f *finding.Finding) string {
	switch {
	case f.Path == "":
		return ""
	case f.Line < 1:
		return clip(f.Path, maxPath) + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", clip(f.Path, maxPath), f.Line, max(f.Column, 1))
}

func (t *text) severity(f *finding.Finding) string {
	if f.Severity == finding.SeverityError {
		return t.paint(red, "error")
	}
	return t.paint(yellow, "warning")
}

// rest says how many findings of a group are not shown, and where they are.
func (t *text) rest(hidden []*finding.Finding) {
	if len(hidden) == 0 {
		return
	}
	var lines []string
	for _, f := range hidden {
		line := strconv.Itoa(max(f.Line, 1))
		if len(lines) > 0 && lines[len(lines)-1] == line {
			continue
		}
		if len(lines) == maxPlaces {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, line)
	}
	word := "line "
	if len(lines) > 1 {
		word = "lines "
	}
	t.line("  … and ", strconv.Itoa(len(hidden)), " more of this rule in this file, ",
		word, strings.Join(lines, ", "), "; ", t.where)
}

// entries names the entry, as people count: from 1.
func (t *text) entries(f *finding.Finding) {
	before, after := f.Entry, f.EntryAfter
	if before == nil {
		before, after = after, nil
	}
	if before == nil {
		if name := fingerprint(f); name != "" && len(f.Sides) == 0 {
			t.line("  ", strings.TrimPrefix(name, "; "))
		}
		return
	}
	moved := ""
	if after != nil && after.Index != before.Index {
		moved = fmt.Sprintf(" (now %s %d)", entryKind(after), after.Index+1)
	}
	t.line(fmt.Sprintf("  %s %d%s: ", entryKind(before), before.Index+1, moved), entryLabel(before), fingerprint(f))
}

// fingerprint names the finding as `small-hook waive` takes it, where it speaks
// of an edit.
func fingerprint(f *finding.Finding) string {
	const digits = 12
	if f.EditFrom == "" && f.EditTo == "" {
		return ""
	}
	return "; fingerprint " + f.Fingerprint()[:digits]
}

func orNone(s, none string) string {
	if s == "" {
		return "(" + none + ")"
	}
	return clip(s, maxName)
}

// changes writes the fields that differ, old and new; those of an entry that is
// gone or was put in as the entry.
func (t *text) changes(f *finding.Finding) {
	changes := f.Changes
	if isWhole(f) {
		sign, color := "- ", red
		if changes[0].HasTo {
			sign, color = "+ ", green
		}
		for _, line := range wholeEntry(f) {
			t.line("    ", t.paint(color, sign+line))
		}
		return
	}
	for i := range changes {
		c := &changes[i]
		if i == maxChanges {
			t.line("  … and ", wording.Count(len(changes)-i+f.MoreChanges, "more field"), "; ", seeAll)
			return
		}
		d := fieldDifference(c, t.width)
		t.line("  ", clip(c.Field, maxName), ":", d.note)
		for _, line := range d.removed {
			t.line("    ", t.paint(red, "- "+line))
		}
		for _, line := range d.added {
			t.line("    ", t.paint(green, "+ "+line))
		}
	}
}

// isWhole reports whether a finding's changes are all the fields of one entry.
func isWhole(f *finding.Finding) bool {
	return f.Entry != nil && f.EntryAfter == nil && len(f.Changes) > 0
}

// wholeEntry is an entry that is gone or was put in, field by field.
func wholeEntry(f *finding.Finding) []string {
	var out []string
	for i := range f.Changes {
		if i == maxFields {
			return append(out, "… and "+wording.Count(len(f.Changes)-i+f.MoreChanges, "more field")+"; "+seeAll)
		}
		out = append(out, wholeField(&f.Changes[i])...)
	}
	if f.MoreChanges > 0 {
		out = append(out, "… and "+wording.Count(f.MoreChanges, "more field"))
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
	label := ""
	if c.Field != "" {
		label = clip(c.Field, maxName) + ": "
	}
	lines := excerptLines(strings.TrimSuffix(value, "\n"), maxText, maxFixLines)
	for i := range lines {
		if i == 0 {
			lines[i] = label + lines[i]
		} else {
			lines[i] = "  " + lines[i]
		}
	}
	return lines
}

// fieldDifference is how one field changed; the note is in brackets behind a
// space.
func fieldDifference(c *ledger.FieldChange, width int) difference {
	var d difference
	switch {
	case c.HasFrom && c.HasTo:
		d = differ(c.From, c.To, width)
	case c.HasFrom:
		d = difference{removed: excerpt(c.From, width), note: "removed"}
	case c.HasTo:
		d = difference{added: excerpt(c.To, width), note: "added"}
	}
	if d.note != "" {
		d.note = " (" + d.note + ")"
	}
	return d
}

// commit says which state is wrong, and against which.
func (t *text) commit(f *finding.Finding) {
	switch {
	case f.Commit != "" && f.Parent != "":
		t.line("  commit ", abbreviate(f.Commit), ", compared with ", abbreviate(f.Parent))
	case f.Commit != "":
		t.line("  commit ", abbreviate(f.Commit))
	case f.Parent != "":
		t.line("  not committed yet, compared with ", abbreviate(f.Parent))
	}
}

// abbreviate shortens an object id to what people read and git accepts.
func abbreviate(id string) string {
	if len(id) > 12 && strings.Trim(id, "0123456789abcdef") == "" {
		return id[:12]
	}
	return clip(id, maxName)
}

func (t *text) waived(waived []finding.Finding) {
	for i := range waived {
		f := &waived[i]
		if i == maxWaived {
			t.line("… and ", strconv.Itoa(len(waived)-i), " more waived; ", t.where)
			break
		}
		t.line(place(f), "waived [", clip(f.Rule, maxName), "]: ", clip(f.Message, maxText),
			" (", orNone(f.Reason, "no reason given"), ")")
	}
	if len(waived) > 0 {
		t.line()
	}
}

// summary is the last line: the outcome, the numbers, what was looked at and
// by whose rules.
func (t *text) summary(r *finding.Report) {
	words, style := outcomeWords(r)
	outcome := t.paint(style, words+":")
	if r.Mode == "audit" && verdict(r) == finding.Fail && slices.ContainsFunc(r.Findings, ofThePast) {
		t.line("adopting the gate here? `small-hook baseline` accepts the logs as they stand, without a rewrite of the history")
	}
	t.line(outcome, " ", summaryWords(r))
	if r.Lane != nil {
		t.line("lane: ", laneWords(r.Lane))
	}
	t.contracts(r.CrossContracts)
	for _, note := range r.Examined.Notes {
		t.line("note: ", clip(note, maxText))
	}
}

// outcomeWords are the outcome in words, and the colour that repeats them.
func outcomeWords(r *finding.Report) (string, style) {
	switch {
	case verdict(r) == finding.Error:
		return "incomplete", red
	case r.Verdict == finding.Pass:
		return "passed", green
	case r.Observe:
		return "would be rejected (mode: observe)", yellow
	}
	return "rejected", red
}

// summaryWords are the numbers, what was looked at and by whose rules.
func summaryWords(r *finding.Report) string {
	count := r.Count()
	numbers := wording.Count(count.Errors, "error") + ", " + wording.Count(count.Warnings, "warning")
	if count.Waived > 0 {
		numbers += fmt.Sprintf(", %d waived", count.Waived)
	}
	examined := wording.Count(r.Examined.Workspaces, "workspace")
	if r.Examined.Commits > 0 || !judgesNoCommits(r.Mode) {
		examined = wording.Count(r.Examined.Commits, "commit") + " and " + examined
	}
	if r.Examined.Workflows > 0 {
		examined = strings.Replace(examined, " and ", ", ", 1) + " and " + wording.Count(r.Examined.Workflows, "workflow file")
	}
	origin := ""
	if r.Examined.Source != "" {
		origin = "; refs from " + clip(r.Examined.Source, maxName)
	}
	if p := r.Examined.Policy; p != "" && p != "HEAD" {
		origin += "; policy: " + clip(p, maxName)
	}
	return numbers + "; examined " + examined + origin
}

// ofThePast reports whether a finding is about what a commit did to a progress log.
func ofThePast(f finding.Finding) bool {
	family, _, _ := strings.Cut(f.Rule, "/")
	return f.Severity == finding.SeverityError && f.Stage == finding.StageHistory && f.Commit != "" && family != "lane" && family != "workflow"
}

// judgesNoCommits tells the commands that look at files or at the index: "0
// commits" would sound as if something were missing.
func judgesNoCommits(mode string) bool {
	switch mode {
	case "check", "pre-commit", "pre-merge-commit", "merge-check":
		return true
	}
	return false
}
