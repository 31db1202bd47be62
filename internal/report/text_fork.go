package report

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// maxForkText is how many entries of one side of a fork text draws.
const maxForkText = 10

// fork draws two branches that both recorded work: what they have in common,
// then one branch of entries for each. Only what blocks is drawn: a hook that
// warns is to be short.
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
		t.line("    :  ", entryCount(earlier), " before")
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
	for i := range side.Entries {
		if i == maxForkText {
			t.line(margin, ":  ", entryCount(side.Count()-i), " more")
			break
		}
		t.line(margin, "o  ", forkEntry(&side.Entries[i]))
	}
	if len(side.Entries) == 0 {
		t.line(margin, "o  nothing of its own")
	}
	t.line(margin, "   = ", word, ": ", t.paint(bold, orNone(side.Name, "no name")))
}

// forkEntry is an entry's number, task, time and agent.
func forkEntry(e *finding.EntryRef) string {
	text := entryWords(e)
	if e.AgentID != "" {
		text += ", " + clip(e.AgentID, maxName)
	}
	return text
}
