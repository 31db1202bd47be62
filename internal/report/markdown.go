package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rules"

	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxMarkdown is how many bytes are written. GitHub drops a summary of
	// more than 1 MiB as a whole.
	maxMarkdown = 900 << 10
	// maxRows is how many rows a table has.
	maxRows = 100
	// maxLedgerRows is how many logs are listed.
	maxLedgerRows = 20
	// maxOfSide is how many entries of one side of a fork are drawn.
	maxOfSide = 5
)

// markdown gathers the report block by block. A block that does not fit is
// left out with all that follow, so that no fence stays open.
type markdown struct {
	buf *bytes.Buffer
	// full is true once a block did not fit; unseen counts the findings that
	// are not told in full.
	full   bool
	unseen int
}

// renderMarkdown writes the report for a page: a step's summary, or a comment.
// What a file says stands in code, or escaped.
func renderMarkdown(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	m := &markdown{buf: buf}
	m.block(markdownTitle(r))
	m.block(markdownFailure(r))
	m.block(ledgerTable(r.Ledgers))
	all := groups(r.Findings)
	m.block(findingTable(all))
	shown := 0
	for _, group := range all {
		n := min(len(group), maxInGroup, maxFindings-shown)
		shown += n
		if n == 0 || !m.block(markdownGroup(group, n)) {
			m.unseen += len(group)
		}
	}
	m.block(markdownWaived(r.Waived))
	if words := unlisted(r); words != "" {
		buf.WriteString("\n*" + upperFirst(words) + ".*\n")
	}
	if m.unseen > 0 || m.full {
		buf.WriteString("\n*Not all is shown here")
		if m.unseen > 0 {
			buf.WriteString(": " + wording.Count(m.unseen, "more finding"))
		}
		buf.WriteString("; `--format json` " + strings.TrimPrefix(seeRest(r), "--format json ") + ".*\n")
	}
	return nil
}

// block appends a block after an empty line, if there is room for it.
func (m *markdown) block(text string) bool {
	const reserve = 500 // for the closing lines
	if text == "" {
		return true
	}
	if m.full || m.buf.Len()+len(text)+1 > maxMarkdown-reserve {
		m.full = true
		return false
	}
	if m.buf.Len() > 0 {
		m.buf.WriteByte('\n')
	}
	m.buf.WriteString(text)
	return true
}

// markdownTitle is the verdict, what it rests on, and what else to know.
func markdownTitle(r *finding.Report) string {
	sign := map[style]string{green: "✅", yellow: "⚠️", red: "❌"}
	words, color := outcomeWords(r)
	if verdict(r) == finding.Error && len(r.Findings) == 0 {
		words = "could not judge"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s small-gate: %s\n\n", sign[color], words)
	b.WriteString(upperFirst(escapeMarkdown(summaryWords(r))) + ".\n")
	if r.Lane != nil {
		b.WriteString("\nLane: " + escapeMarkdown(laneWords(r.Lane)) + ".\n")
	}
	for i, note := range r.Examined.Notes {
		if i == maxRows {
			break
		}
		b.WriteString("\n*Note:* " + escapeMarkdownClip(note, maxText) + "\n")
	}
	return b.String()
}

// escapeMarkdownClip escapes the beginning of a text.
func escapeMarkdownClip(s string, limit int) string {
	end := forward(s, 0, limit)
	if end == len(s) {
		return escapeMarkdown(s)
	}
	return escapeMarkdown(s[:end]) + more(s[end:])
}

func markdownFailure(r *finding.Report) string {
	f := failureOf(r)
	if f == nil {
		return ""
	}
	out := "### Could not judge\n\nReason: " + escapeMarkdownClip(strings.TrimSpace(f.Message), maxText) + "\n"
	if remedy := strings.TrimSpace(f.Remedy); remedy != "" {
		out += "\nWhat helps:\n\n" + fenced("text", lines(remedy))
	}
	return out
}

func ledgerTable(ledgers []finding.LedgerState) string {
	if len(ledgers) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| log | entries | head |\n| --- | ---: | --- |\n")
	for i := range ledgers {
		if i == maxLedgerRows {
			fmt.Fprintf(&b, "| … and %s | | |\n", wording.Count(len(ledgers)-i, "more log"))
			break
		}
		l := &ledgers[i]
		fmt.Fprintf(&b, "| %s | %d | `%.19s…` |\n", escapeMarkdownClip(l.Path, maxPath), l.Entries, l.Head)
	}
	return b.String()
}

// findingTable has a row for each group of findings.
func findingTable(all [][]*finding.Finding) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| | rule | where | what |\n| --- | --- | --- | --- |\n")
	for i, group := range all {
		if i == maxRows {
			left := 0
			for _, g := range all[i:] {
				left += len(g)
			}
			fmt.Fprintf(&b, "| | | | … and %s |\n", wording.Count(left, "more finding"))
			break
		}
		f := group[0]
		where := ""
		if f.Path != "" {
			where = escapeMarkdownClip(f.Path, maxPath) + fmt.Sprintf(", line %d", max(f.Line, 1))
		}
		what := escapeMarkdownClip(f.Message, maxText)
		if n := len(group) - 1; n > 0 {
			what += fmt.Sprintf(" (and %d more)", n)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", severityWord(f), ruleLink(f.Rule), where, what)
	}
	return b.String()
}

func severityWord(f *finding.Finding) string {
	if f.Severity == finding.SeverityError {
		return "error"
	}
	return "warning"
}

// ruleLink is a rule's id, as a link if there is such a rule.
func ruleLink(id string) string {
	if _, known := rules.Find(id); known {
		return "[" + id + "](" + rulePage(id) + ")"
	}
	return escapeMarkdownClip(id, maxName)
}

// markdownGroup tells the first n findings of a group.
func markdownGroup(group []*finding.Finding, n int) string {
	var b strings.Builder
	first := group[0]
	title := clip(first.Rule, maxName)
	if first.Path != "" {
		title += " in " + clip(first.Path, maxPath)
	}
	b.WriteString("### " + escapeMarkdown(title) + "\n")
	for i, f := range group[:n] {
		b.WriteString("\n")
		if f.Path != "" {
			fmt.Fprintf(&b, "**Line %d:** ", max(f.Line, 1))
		} else {
			b.WriteString("**Says:** ")
		}
		b.WriteString(escapeMarkdownClip(f.Message, maxText) + "\n")
		b.WriteString(markdownEntry(f))
		if len(f.Changes) > 0 {
			b.WriteString("\n" + fenced("diff", diff(f)))
		}
		b.WriteString(fork(f))
		if last := i+1 == n; last || f.Fix != group[i+1].Fix {
			b.WriteString(markdownClosing(f, group[n:], last))
		}
	}
	return b.String()
}

// markdownEntry names the entry and, where it was recorded, its edit.
func markdownEntry(f *finding.Finding) string {
	before, after := f.Entry, f.EntryAfter
	if before == nil {
		before, after = after, nil
	}
	if before == nil {
		if name := fingerprint(f); name != "" && len(f.Sides) == 0 {
			return "\nF" + strings.TrimPrefix(name, "; f") + "\n"
		}
		return ""
	}
	moved := ""
	if after != nil && after.Index != before.Index {
		moved = fmt.Sprintf(" (now %s %d)", entryKind(after), after.Index+1)
	}
	if before.Switch {
		return fmt.Sprintf("\nSwitch %d%s: %s%s\n", before.Index+1, moved, codeSpan(entryLabel(before)), fingerprint(f))
	}
	return fmt.Sprintf("\nEntry %d%s: %s, %s%s\n", before.Index+1, moved, codeSpan(orNone(before.TaskID, "no task_id")),
		codeSpan(orNone(before.Timestamp, "no timestamp")), fingerprint(f))
}

// markdownClosing says which states were compared and what to do, and counts
// what is hidden.
func markdownClosing(f *finding.Finding, hidden []*finding.Finding, last bool) string {
	out := ""
	if last && len(hidden) > 0 {
		out += fmt.Sprintf("\n… and %d more of this rule in this file.\n", len(hidden))
	}
	switch {
	case !last:
	case f.Commit != "" && f.Parent != "":
		out += "\nCommit " + codeSpan(abbreviate(f.Commit)) + ", compared with " + codeSpan(abbreviate(f.Parent)) + ".\n"
	case f.Commit != "":
		out += "\nCommit " + codeSpan(abbreviate(f.Commit)) + ".\n"
	case f.Parent != "":
		out += "\nNot committed yet, compared with " + codeSpan(abbreviate(f.Parent)) + ".\n"
	}
	if fix := strings.TrimSpace(f.Fix); fix != "" {
		out += "\nWhat to do:\n\n" + fenced("text", lines(fix))
	}
	return out
}

// diff shows the fields that differ as a patch would.
func diff(f *finding.Finding) string {
	var b strings.Builder
	changes := f.Changes
	if isWhole(f) {
		sign := "- "
		if changes[0].HasTo {
			sign = "+ "
		}
		for _, line := range wholeEntry(f) {
			b.WriteString(sign + line + "\n")
		}
		return b.String()
	}
	for i := range changes {
		if i == maxChanges {
			fmt.Fprintf(&b, "… and %s\n", wording.Count(len(changes)-i+f.MoreChanges, "more field"))
			break
		}
		c := &changes[i]
		d := fieldDifference(c, defaultWidth)
		b.WriteString("@@ " + orNone(c.Field, "the entry") + d.note + " @@\n")
		for _, line := range d.removed {
			b.WriteString("- " + line + "\n")
		}
		for _, line := range d.added {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}

// fork draws two branches that both recorded work, and lists their entries.
func fork(f *finding.Finding) string {
	if len(f.Sides) != 2 {
		return ""
	}
	var list strings.Builder
	for s := range f.Sides {
		side := &f.Sides[s]
		fmt.Fprintf(&list, "\n%s, %s:\n\n", codeSpan(orNone(side.Name, "no name")), entryCount(side.Count())+" missing on the other side")
		for i := range side.Entries {
			e := &side.Entries[i]
			if i == maxOfSide {
				list.WriteString("- … and " + entryCount(side.Count()-i) + " more\n")
				break
			}
			fmt.Fprintf(&list, "- entry %d: %s, %s%s\n", e.Index+1, codeSpan(orNone(e.TaskID, "no task_id")), codeSpan(orNone(e.Timestamp, "no timestamp")), byAgent(e))
		}
	}
	return "\n" + fenced("mermaid", gitGraph(f)) + list.String()
}

func byAgent(e *finding.EntryRef) string {
	if e.AgentID == "" {
		return ""
	}
	return ", by " + codeSpan(clip(e.AgentID, maxName))
}

// gitGraph draws a fork in Mermaid's language for histories: entries as commits.
// The words before each name keep names apart, which Mermaid takes for one
// another if they are equal.
func gitGraph(f *finding.Finding) string {
	var b strings.Builder
	ours, theirs := "ours: "+diagramText(f.Sides[0].Name, 40), "theirs: "+diagramText(f.Sides[1].Name, 40)
	fmt.Fprintf(&b, "%%%%{init: {\"gitGraph\": {\"mainBranchName\": \"%s\"}}}%%%%\ngitGraph LR:\n", ours)
	node := func(label string) { fmt.Fprintf(&b, "  commit id: \"%s\"\n", label) }
	last := f.Common.Last
	switch earlier := f.Common.Count - len(last); {
	case f.Common.Count == 0:
		node("nothing in common")
	case earlier > 0:
		node(entryCount(earlier) + " before")
	}
	for i := range last {
		node("both " + graphLabel(&last[i]))
	}
	fmt.Fprintf(&b, "  branch \"%s\"\n", theirs)
	for s, word := range []string{"theirs", "ours"} {
		side := &f.Sides[1-s]
		if s == 1 {
			fmt.Fprintf(&b, "  checkout \"%s\"\n", ours)
		}
		for i := range side.Entries {
			if i == maxOfSide {
				node(fmt.Sprintf("%s … %s more", word, entryCount(side.Count()-i)))
				break
			}
			node(word + " " + graphLabel(&side.Entries[i]))
		}
	}
	return b.String()
}

// graphLabel is an entry's number, task, time and agent.
func graphLabel(e *finding.EntryRef) string {
	label := fmt.Sprintf("%d: %s", e.Index+1, diagramText(orNone(e.TaskID, "no task"), 40))
	for _, text := range []string{e.Timestamp, e.AgentID} {
		if text != "" {
			label += " " + diagramText(text, 35)
		}
	}
	return label
}

// entryCount is "1 entry" or "3 entries".
func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func markdownWaived(waived []finding.Finding) string {
	if len(waived) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Waived\n\n")
	for i := range waived {
		f := &waived[i]
		if i == maxWaived {
			fmt.Fprintf(&b, "- … and %d more\n", len(waived)-i)
			break
		}
		where := ""
		if f.Path != "" {
			where = fmt.Sprintf(" in %s, line %d", escapeMarkdownClip(f.Path, maxPath), max(f.Line, 1))
		}
		reason := "no reason given"
		if f.Reason != "" {
			reason = escapeMarkdownClip(f.Reason, maxText)
		}
		fmt.Fprintf(&b, "- excused: %s%s: %s (%s)\n", ruleLink(f.Rule), where, escapeMarkdownClip(f.Message, maxText), reason)
	}
	return b.String()
}
