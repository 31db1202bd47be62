// Package markdown writes a report for GitHub's and GitLab's pages: a step's summary, or a comment. Text from files is in code, or escaped.
package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/report/content"
)

const (
	// maxSize is the size limit of the output, in bytes. GitHub drops a summary of more than 1 MiB.
	maxSize = 900 << 10
	// maxRows is the largest number of rows in the table of findings; maxLedgerRows that in the table of logs.
	maxRows       = 100
	maxLedgerRows = 20
)

// page collects the report block by block. A block that does not fit is left out as a whole, so that no fence stays open, and so are all later ones.
type page struct {
	buf *bytes.Buffer
	// full is true once a block did not fit.
	full bool
	// fixes are the fixes that were already shown.
	fixes map[string]bool
}

// Render appends the report.
func Render(buf *bytes.Buffer, r *finding.Report) error {
	p := &page{buf: buf, fixes: map[string]bool{}}
	p.block(title(r))
	p.block(failureSection(r))
	p.block(ledgerTable(r.Ledgers))
	groups := content.Groups(r.Findings)
	p.block(findingTable(r, groups))
	shown, hidden := content.Shown(groups), 0
	for i, group := range groups {
		n := shown[i]
		if n == 0 || !p.block(p.groupSection(r, group, n)) {
			hidden += len(group)
		}
	}
	p.block(waivedSection(r.Waived))
	if words := content.ListedNowhere(r); words != "" {
		buf.WriteString("\n*" + content.UpperFirst(words) + ".*\n")
	}
	if words := content.ByRule(r.Findings); words != "" {
		buf.WriteString("\n*By rule: " + escapeText(words) + ".*\n")
	}
	if hidden > 0 || p.full {
		buf.WriteString("\n*Not all is shown here")
		if hidden > 0 {
			buf.WriteString(": " + wording.Count(hidden, "more finding"))
		}
		buf.WriteString("; `--format json` " + strings.TrimPrefix(content.SeeRest(r), "--format json ") + ".*\n")
	}
	return nil
}

// block appends a block after an empty line, if there is room for it.
func (p *page) block(text string) bool {
	const reserve = 500 // for the closing lines
	if text == "" {
		return true
	}
	if p.full || p.buf.Len()+len(text)+1 > maxSize-reserve {
		p.full = true
		return false
	}
	if p.buf.Len() > 0 {
		p.buf.WriteByte('\n')
	}
	p.buf.WriteString(text)
	return true
}

// title returns the heading with the outcome, the numbers, what was judged, and the notes.
func title(r *finding.Report) string {
	sign := map[content.Level]string{content.Good: "✅", content.Warn: "⚠️", content.Bad: "❌"}
	words, level := content.Outcome(r)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s small-gate: %s\n\n", sign[level], words)
	b.WriteString(content.UpperFirst(escape(content.Summary(r))) + ".\n")
	b.WriteString(subject(r))
	if r.Lane != nil {
		b.WriteString("\nLane: " + escape(content.Lane(r.Lane)) + ".\n")
	}
	for _, note := range r.Examined.Notes[:min(len(r.Examined.Notes), content.MaxNotes)] {
		b.WriteString("\n*Note:* " + escapeStart(note, content.LineWidth(note)) + "\n")
	}
	return b.String()
}

// subject says what was judged: the repository, the branch, and which commits were compared.
func subject(r *finding.Report) string {
	var parts []string
	if name := r.Examined.Repository; name != "" {
		parts = append(parts, "repository "+escape(content.Name(name)))
	}
	if name := r.Examined.Branch; name != "" {
		parts = append(parts, "branch "+escape(content.Name(name)))
	}
	if r.Examined.Head != "" {
		parts = append(parts, "head "+commitLink(r, r.Examined.Head))
	}
	if r.Examined.Base != "" {
		parts = append(parts, "base "+commitLink(r, r.Examined.Base))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + content.UpperFirst(strings.Join(parts, ", ")) + ".\n"
}

// commitLink returns a commit's short id, with a link to its page if that is known.
func commitLink(r *finding.Report, id string) string {
	c := content.CommitOf(r, id)
	if c.Page == "" {
		return codeSpan(c.ID)
	}
	return "[" + codeSpan(c.ID) + "](" + c.Page + ")"
}

// describeCommit returns a commit's subject, author and day; empty if the report does not describe it.
func describeCommit(r *finding.Report, id string) string {
	c := content.CommitOf(r, id)
	var parts []string
	if c.Subject != "" {
		parts = append(parts, "“"+escape(c.Subject)+"”")
	}
	if by := c.By(); by != "" {
		parts = append(parts, escape(by))
	}
	return strings.Join(parts, ", ")
}

// whatToDo lists the steps of a fix or a remedy. Each command has its own line, to be copied.
func whatToDo(fix string) string {
	steps := content.Steps(fix)
	if len(steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nWhat to do:\n\n")
	for _, step := range steps {
		if step.Command {
			b.WriteString("- " + codeSpan(step.Text) + "\n")
		} else {
			b.WriteString("- " + escapeLine(step.Text) + "\n")
		}
	}
	return b.String()
}

func failureSection(r *finding.Report) string {
	f := content.Failure(r)
	if f == nil {
		return ""
	}
	return "### Could not judge\n\nReason: " + escapeText(strings.TrimSpace(f.Message)) + "\n" + whatToDo(f.Remedy)
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
		entries := fmt.Sprint(l.Entries)
		if l.Open > 0 {
			entries += fmt.Sprintf(", %d open", l.Open)
		}
		fmt.Fprintf(&b, "| %s | %s | `%.19s…` |\n", escapePath(l.Path), entries, l.Head)
	}
	return b.String()
}

// findingTable has a row for each group of findings.
func findingTable(r *finding.Report, groups [][]*finding.Finding) string {
	if len(groups) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| | rule | where | what | commit |\n| --- | --- | --- | --- | --- |\n")
	left := 0
	for i, group := range groups {
		if i >= maxRows {
			left += len(group)
			continue
		}
		f := group[0]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", string(f.Severity), ruleLink(f.Rule), place(f), content.Heading(group, escapeText), commitCell(r, group))
	}
	if left > 0 {
		fmt.Fprintf(&b, "| | | | … and %s | |\n", wording.Count(left, "more finding"))
	}
	return b.String()
}

// commitCell returns the commit of a group with its subject; empty if there is none, or more than one.
func commitCell(r *finding.Report, group []*finding.Finding) string {
	if !content.OfOneCommit(group) || group[0].Commit == "" {
		return ""
	}
	c := content.CommitOf(r, group[0].Commit)
	cell := escape(c.ID)
	if c.Page != "" {
		cell = "[" + cell + "](" + c.Page + ")"
	}
	return strings.TrimSpace(cell + " " + escape(c.Subject))
}

// place returns a finding's file and line; empty without a file.
func place(f *finding.Finding) string {
	if f.Path == "" {
		return ""
	}
	return escapePath(f.Path) + fmt.Sprintf(", line %d", max(f.Line, 1))
}

// ruleLink returns a rule's id, as a link if the rule exists.
func ruleLink(id string) string {
	if _, known := catalogue.Find(id); known {
		return "[" + id + "](" + content.RulePage(id) + ")"
	}
	return escapeStart(id, content.MaxName)
}

// groupSection shows the first n findings of a group.
func (p *page) groupSection(r *finding.Report, group []*finding.Finding, n int) string {
	var b strings.Builder
	first := group[0]
	title := content.Name(first.Rule)
	if first.Path != "" {
		title += " in " + content.Path(first.Path)
	}
	b.WriteString("### " + escape(title) + "\n")
	b.WriteString(compared(r, group))
	for i, f := range group[:n] {
		if f.Path != "" {
			fmt.Fprintf(&b, "\n**Line %d:** ", max(f.Line, 1))
		} else {
			b.WriteString("\n**Finding:** ")
		}
		b.WriteString(escapeText(f.Message) + "\n")
		if words := content.AboutEntry(f, entryLabel); words != "" {
			b.WriteString("\n" + content.UpperFirst(words) + "\n")
		}
		if len(f.Changes) > 0 {
			b.WriteString("\n" + fenced("diff", diff(f)))
		}
		b.WriteString(fork(f))
		last := i+1 == n
		if last && len(group) > n {
			fmt.Fprintf(&b, "\n… and %d more of this rule in this file.\n", len(group)-n)
		}
		if last || f.Fix != group[i+1].Fix {
			if steps := whatToDo(f.Fix); !p.fixes[steps] {
				p.fixes[steps] = steps != ""
				b.WriteString(steps)
			} else {
				b.WriteString("\nWhat to do: as above.\n")
			}
		}
	}
	return b.String()
}

// entryLabel is [content.EntryLabel] in code.
func entryLabel(e *finding.EntryRef) string {
	if e.Noun == ledger.Switch {
		return codeSpan(content.EntryLabel(e))
	}
	if content.OnlyDigest(e) {
		return codeSpan(e.Digest.String())
	}
	return codeSpan(content.NameOr(e.TaskID, "no task_id")) + ", " + codeSpan(content.NameOr(e.Timestamp, "no timestamp"))
}

// compared says which commit has the findings of a group, who wrote it, and what it was compared with.
func compared(r *finding.Report, group []*finding.Finding) string {
	f := group[0]
	if !content.OfOneCommit(group) {
		return "\nIn several commits.\n"
	}
	words := content.Compared(f, func(id string) string {
		link := commitLink(r, id)
		if about := describeCommit(r, id); about != "" && id == f.Commit {
			link += " (" + about + ")"
		}
		return link
	})
	if words == "" {
		return ""
	}
	return "\n" + content.UpperFirst(words) + ".\n"
}

// diff shows the changed fields as a patch would.
func diff(f *finding.Finding) string {
	var b strings.Builder
	changes, more := content.Changes(f, content.Width, content.MaxChanges)
	for i := range changes {
		c := &changes[i]
		if !c.IsWhole() {
			b.WriteString("@@ " + c.Field + c.Bracketed() + " @@\n")
		}
		for _, line := range c.Removed {
			b.WriteString("- " + line + "\n")
		}
		for _, line := range c.Added {
			b.WriteString("+ " + line + "\n")
		}
	}
	if more > 0 {
		b.WriteString(content.MoreFields(f, more) + "\n")
	}
	return b.String()
}

func waivedSection(waived []finding.Finding) string {
	if len(waived) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Waived\n\n")
	for i := range waived {
		f := &waived[i]
		if i == content.MaxWaived {
			fmt.Fprintf(&b, "- … and %d more\n", len(waived)-i)
			break
		}
		where := place(f)
		if where != "" {
			where = " in " + where
		}
		reason := "no reason given"
		if f.Reason != "" {
			reason = escapeText(f.Reason)
		}
		fmt.Fprintf(&b, "- waived: %s%s: %s (%s)\n", ruleLink(f.Rule), where, escapeText(f.Message), reason)
	}
	return b.String()
}
