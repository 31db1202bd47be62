package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	maxPlaces      = 10 // the largest number of lines that are named for findings of a group that are not shown
	maxSideEntries = 10 // the largest number of entries that are drawn for one side of a fork
	minWidth       = 40 // the least width of a value in a report, in columns, however narrow the terminal is
)

// style is an ANSI colour.
type style string

const (
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

var levelStyles = map[content.Level]style{content.Good: green, content.Warn: yellow, content.Bad: red}

// text writes plain text, sanitised line by line. The text report uses it, and so do other formats for their texts.
type text struct {
	buf   *bytes.Buffer
	color bool
	// seeRest says where the omitted findings are.
	seeRest string
	// width is, in a report, the largest number of characters of a value on one line; in look, that of the whole line.
	width int
	// fixes are the fixes that were already shown.
	fixes map[string]bool
}

func renderText(buf *bytes.Buffer, r *finding.Report, opts Options) error {
	if opts.Quiet && r.Verdict == finding.Pass && r.Failure == nil && len(r.Findings) == 0 {
		return nil
	}
	t := &text{buf: buf, color: opts.Color, width: content.Width, seeRest: content.SeeRest(r)}
	if opts.Width > 0 {
		t.width = max(opts.Width-len("    - "), minWidth)
	}
	t.findings(r.Findings)
	t.waived(r.Waived)
	if words := content.ListedNowhere(r); words != "" {
		t.line(words)
		t.line()
	}
	if f := content.Failure(r); f != nil && !opts.FailureApart {
		t.line(content.Name(cmp.Or(r.Tool, "small-hook")), ": ", t.paint(red, "cannot judge:"), " ", content.Text(strings.TrimSpace(f.Message)))
		t.block("fix: ", f.Remedy)
	}
	if content.Verdict(r) != finding.Error || len(r.Findings) > 0 {
		t.summary(r)
	}
	return nil
}

// line writes one line. Its parts are sanitised, but a workflow command could still arise where two of them meet.
func (t *text) line(parts ...string) {
	line := strings.Join(parts, "")
	if sanitize.OpensCommand(line) {
		t.buf.WriteByte('\\')
	}
	t.buf.WriteString(line)
	t.buf.WriteByte('\n')
}

func (t *text) paint(s style, words string) string {
	if !t.color || words == "" {
		return words
	}
	return "\x1b[" + string(s) + "m" + words + "\x1b[0m"
}

// block writes a label and a text of one or more lines; the later lines are indented.
func (t *text) block(label, advice string) {
	if strings.TrimSpace(advice) == "" {
		return
	}
	for i, line := range strings.Split(content.Lines(advice), "\n") {
		if i == 0 {
			t.line(t.paint(bold, label), line)
		} else {
			t.line(strings.Repeat(" ", len(label)), line)
		}
	}
}

// findings writes findings group by group, up to the limit.
func (t *text) findings(all []finding.Finding) {
	left := len(all)
	groups := content.Groups(all)
	shown := content.Shown(groups)
	for i, group := range groups {
		if shown[i] == 0 {
			continue
		}
		t.group(group, shown[i])
		t.line()
		left -= len(group)
	}
	if left > 0 {
		t.line("… and ", wording.Count(left, "more finding"), "; ", t.seeRest)
		t.line()
	}
	if words := content.ByRule(all); words != "" {
		t.line("by rule: ", words)
		t.line()
	}
}

// group writes the first n findings of one group, and names the places of the others. The compared commits are written at the end, and a fix after the
// last of neighbouring findings that share it.
func (t *text) group(group []*finding.Finding, n int) {
	for i, f := range group[:n] {
		severity := t.paint(levelStyles[content.LevelOf(f)], string(f.Severity))
		t.line(place(f), severity, " [", content.Name(f.Rule), "]: ", content.Text(f.Message))
		t.details(f)
		t.fork(f)
		if i+1 == n {
			t.closing(f, group[n:])
		} else if f.Fix != group[i+1].Fix {
			t.fix(f)
		}
	}
}

// fix writes a finding's fix; if the report has it already, a reference to it.
func (t *text) fix(f *finding.Finding) {
	if t.fixes[f.Fix] {
		t.line(t.paint(bold, "  fix: "), "as above")
		return
	}
	if t.fixes == nil {
		t.fixes = map[string]bool{}
	}
	t.fixes[f.Fix] = strings.TrimSpace(f.Fix) != ""
	t.block("  fix: ", f.Fix)
}

// place returns a finding's place with a colon; empty if it has none.
func place(f *finding.Finding) string {
	switch {
	case f.Path == "":
		return ""
	case f.Line < 1:
		return content.Path(f.Path) + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", content.Path(f.Path), f.Line, max(f.Column, 1))
}

// details writes which entry a finding is about, and how it changed.
func (t *text) details(f *finding.Finding) {
	if words := content.AboutEntry(f, content.EntryLabel); words != "" {
		t.line("  ", words)
	}
	changes, more := content.Changes(f, t.width, content.MaxChanges)
	for i := range changes {
		c := &changes[i]
		if !c.IsWhole() {
			t.line("  ", c.Field, ":", c.Bracketed())
		}
		for _, line := range c.Removed {
			t.line("    ", t.paint(red, "- "+line))
		}
		for _, line := range c.Added {
			t.line("    ", t.paint(green, "+ "+line))
		}
	}
	if more > 0 {
		t.line("  ", content.MoreFields(f, more))
	}
}

// closing ends a group: it says how many findings are not shown, which commits were compared, and what the fix is.
func (t *text) closing(f *finding.Finding, hidden []*finding.Finding) {
	t.rest(hidden)
	if words := content.Compared(f, content.Abbreviate); words != "" {
		t.line("  ", words)
	}
	t.fix(f)
}

// rest says how many findings of a group are not shown, and in which lines they are.
func (t *text) rest(hidden []*finding.Finding) {
	if len(hidden) == 0 {
		return
	}
	lines, word := linesOf(hidden), "line "
	if len(lines) > 1 {
		word = "lines "
	}
	t.line("  … and ", strconv.Itoa(len(hidden)), " more of this rule in this file, ",
		word, strings.Join(lines, ", "), "; ", t.seeRest)
}

// linesOf names the lines of findings, up to a limit.
func linesOf(findings []*finding.Finding) []string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = strconv.Itoa(max(f.Line, 1))
	}
	if lines = slices.Compact(lines); len(lines) > maxPlaces {
		lines = append(lines[:maxPlaces], "…")
	}
	return lines
}

// fork draws two branches that both recorded work: their common part, then one branch of entries for each. Only errors are drawn: a warning
// in a hook must be short.
//
//	o  entry 1: meta/init, 2026-03-01T09:00:00Z
//	|\
//	| o  entry 2: task-2, 2026-03-01T09:20:00Z, agent-2
//	|    = theirs: feature
//	|
//	o  entry 2: task-1, 2026-03-01T09:10:00Z, agent-1
//	   = ours: main
func (t *text) fork(f *finding.Finding) {
	if len(f.Sides) != 2 || f.Severity != finding.SeverityError {
		return
	}
	t.line()
	last := f.Common.Last
	if earlier := f.Common.Count - len(last); earlier > 0 {
		t.line("    :  ", wording.Count(earlier, "earlier entry"))
	}
	if f.Common.Count == 0 {
		t.line("    o  nothing in common")
	}
	for i := range last {
		t.line("    o  ", forkEntry(&last[i]))
	}
	t.line(`    |\`)
	t.side(&f.Sides[1], "    | ", "theirs")
	t.line("    |")
	t.side(&f.Sides[0], "    ", "ours")
	t.line()
}

// side draws one branch.
func (t *text) side(side *finding.Side, margin, word string) {
	entries, more := content.First(side, maxSideEntries)
	for i := range entries {
		t.line(margin, "o  ", forkEntry(&entries[i]))
	}
	if more > 0 {
		t.line(margin, ":  ", wording.Count(more, "more entry"))
	}
	if len(entries) == 0 {
		t.line(margin, "o  nothing of its own")
	}
	t.line(margin, "   = ", word, ": ", t.paint(bold, content.NameOr(side.Name, "no name")))
}

// forkEntry returns an entry's number, task, time and agent.
func forkEntry(e *finding.EntryRef) string {
	words := content.Entry(e)
	if e.AgentID != "" {
		words += ", " + content.Name(e.AgentID)
	}
	return words
}

func (t *text) waived(waived []finding.Finding) {
	for i := range waived {
		f := &waived[i]
		if i == content.MaxWaived {
			t.line("… and ", strconv.Itoa(len(waived)-i), " more waived; ", t.seeRest)
			break
		}
		t.line(place(f), "waived [", content.Name(f.Rule), "]: ", content.Text(f.Message),
			" (", content.NameOr(f.Reason, "no reason given"), ")")
	}
	if len(waived) > 0 {
		t.line()
	}
}

// summary writes the outcome with its numbers, and the notes.
func (t *text) summary(r *finding.Report) {
	words, level := content.Outcome(r)
	t.line(t.paint(levelStyles[level], words+":"), " ", content.Summary(r))
	if r.Lane != nil {
		t.line("lane: ", content.Lane(r.Lane))
	}
	for _, note := range r.Examined.Notes {
		t.line("note: ", sanitize.Clip(note, content.LineWidth(note)))
	}
}
