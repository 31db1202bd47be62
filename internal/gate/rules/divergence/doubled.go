package divergence

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// checkDoubled finds entries of a configured log that a commit adds although an equal one is there: those beyond the number that the parent
// with the most has. If a few fields identify an entry, two of them are an error.
func checkDoubled(j *logs.Joined, r *rule.Reporter) {
	stanza := j.Run.Source.Policy.LogFor(j.Path)
	if stanza == nil || j.Run.Source.OfFile(j.Path) {
		return
	}
	entries := j.Child.Log.Entries
	first := map[small.Digest]ledger.Entry{}
	for i := len(entries) - 1; i >= 0; i-- {
		first[entries[i].Digest] = entries[i]
	}
	if len(first) == len(entries) {
		return
	}
	most := map[small.Digest]int{}
	for _, p := range j.Approved {
		for _, l := range p.Ledgers {
			here := map[small.Digest]int{}
			for _, e := range l.Log.Entries {
				here[e.Digest]++
				most[e.Digest] = max(most[e.Digest], here[e.Digest])
			}
		}
	}
	count := map[small.Digest]int{}
	for _, e := range entries {
		count[e.Digest]++
		if count[e.Digest] > 1 && count[e.Digest] > most[e.Digest] && !j.Excused(e.Digest) {
			r.Add(doubled(j.Path, e, first[e.Digest], len(stanza.Identity.Only) > 0))
		}
	}
}

// doubled is the finding that an entry is equal to an earlier one. byKey is true if a few fields identify an entry.
func doubled(path string, e, first ledger.Entry, byKey bool) finding.Finding {
	f := finding.Finding{
		Path: path, Line: e.Pos.Line, Column: e.Pos.Column, Subject: "doubled " + e.Digest.String(), Entry: finding.RefOf(e),
		Edits:   []finding.EditKey{{Path: path + "\x00doubled", From: first.Digest.String(), To: e.Digest.String()}},
		Message: fmt.Sprintf("%s is there already: it is the same entry as %s", ledger.Describe(e), ledger.Describe(first)),
		Fix:     "nothing is lost; a program that reads the log has to take one of the two",
	}
	if byKey {
		f.Severity = finding.SeverityError
		f.Fix = "take one of the two out of the commit that adds it, or give it a key of its own"
	}
	return f
}
