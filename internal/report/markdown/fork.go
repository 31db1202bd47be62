package markdown

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
)

// maxOfSide is the largest number of entries that are listed for one side of a fork.
const maxOfSide = 5

// fork lists the entries of two branches that both recorded work.
func fork(f *finding.Finding) string {
	if len(f.Sides) != 2 {
		return ""
	}
	var list strings.Builder
	fmt.Fprintf(&list, "\n%s in common.\n", wording.Count(f.Common.Count, "entry"))
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
			fmt.Fprintf(&list, "- %s: %s%s\n", content.EntryName(e), entryLabel(e), by)
		}
		if more > 0 {
			list.WriteString("- … and " + wording.Count(more, "more entry") + "\n")
		}
	}
	return list.String()
}
