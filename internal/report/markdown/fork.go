package markdown

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/wording"
)

// maxOfSide is how many entries of one side of a fork are drawn.
const maxOfSide = 5

// fork draws two branches that both recorded work, and lists their entries.
func fork(f *finding.Finding) string {
	if len(f.Sides) != 2 {
		return ""
	}
	var list strings.Builder
	for i := range f.Sides {
		side := &f.Sides[i]
		fmt.Fprintf(&list, "\n%s, %s missing on the other side:\n\n", codeSpan(content.NameOr(side.Name, "no name")), wording.Count(side.Count(), "entry"))
		entries, more := content.First(side, maxOfSide)
		for i := range entries {
			e := &entries[i]
			by := ""
			if e.AgentID != "" {
				by = ", by " + codeSpan(content.Name(e.AgentID))
			}
			fmt.Fprintf(&list, "- entry %d: %s%s\n", e.Index+1, entryLabel(e), by)
		}
		if more > 0 {
			list.WriteString("- … and " + wording.Count(more, "more entry") + "\n")
		}
	}
	return "\n" + fenced("mermaid", gitGraph(f)) + list.String()
}

// gitGraph draws a fork in Mermaid's language for histories: entries as commits.
// The words before each name keep equal names apart, which Mermaid takes for one.
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
		node(wording.Count(earlier, "earlier entry"))
	}
	for i := range last {
		node("both " + graphLabel(&last[i]))
	}
	side := func(s *finding.Side, word string) {
		entries, more := content.First(s, maxOfSide)
		for i := range entries {
			node(word + " " + graphLabel(&entries[i]))
		}
		if more > 0 {
			node(fmt.Sprintf("%s … %s", word, wording.Count(more, "more entry")))
		}
	}
	fmt.Fprintf(&b, "  branch \"%s\"\n", theirs)
	side(&f.Sides[1], "theirs")
	fmt.Fprintf(&b, "  checkout \"%s\"\n", ours)
	side(&f.Sides[0], "ours")
	return b.String()
}

// graphLabel is an entry's number, task, time and agent.
func graphLabel(e *finding.EntryRef) string {
	label := fmt.Sprintf("%d: %s", e.Index+1, diagramText(content.NameOr(e.TaskID, "no task"), 40))
	for _, text := range []string{e.Timestamp, e.AgentID} {
		if text != "" {
			label += " " + diagramText(text, 35)
		}
	}
	return label
}
