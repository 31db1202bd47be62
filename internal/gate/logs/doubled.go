package logs

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Doubled is an entry of a configured log that a commit adds although an equal one is there.
type Doubled struct {
	rule.Place
	Path string
	// Entry is the added one, First the one that was there.
	Entry, First ledger.Entry
	// IsKey is true if a few fields identify an entry: then two of them are an error.
	IsKey bool
}

// checkDoubled is a check of divergence/duplicate-entry.
func checkDoubled(d *Doubled, r *rule.Reporter) {
	f := finding.Finding{
		Path: d.Path, Line: d.Entry.Pos.Line, Column: d.Entry.Pos.Column, Subject: "doubled " + d.Entry.Digest.String(), Entry: finding.RefOf(d.Entry),
		Edits:   []finding.EditKey{{Path: d.Path + "\x00doubled", From: d.First.Digest.String(), To: d.Entry.Digest.String()}},
		Message: fmt.Sprintf("%s is there already: it is the same entry as %s", ledger.Describe(d.Entry), ledger.Describe(d.First)),
		Fix:     "nothing is lost; a program that reads the log has to take one of the two",
	}
	if d.IsKey {
		f.Severity = finding.SeverityError
		f.Fix = "take one of the two out of the commit that adds it, or give it a key of its own"
	}
	r.Add(f)
}

// judgeDoubled finds entries that a commit adds although an equal one is there: those beyond the number that the parent with the most has.
func judgeDoubled(ctx context.Context, r *run.Run, s *read.Step, path string, child *ledger.Ledger, parents []read.ParentLog, accepted func(small.Digest) bool) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || r.Source.OfFile(path) {
		return nil
	}
	first, count := map[small.Digest]int{}, map[small.Digest]int{}
	repeated := false
	for i, e := range child.Entries {
		if _, known := first[e.Digest]; known {
			repeated = true
		} else {
			first[e.Digest] = i
		}
	}
	if !repeated {
		return nil
	}
	most := map[small.Digest]int{}
	for _, p := range parents {
		for _, l := range p.Ledgers {
			here := map[small.Digest]int{}
			for _, e := range l.Log.Entries {
				here[e.Digest]++
				most[e.Digest] = max(most[e.Digest], here[e.Digest])
			}
		}
	}
	for _, e := range child.Entries {
		count[e.Digest]++
		if count[e.Digest] == 1 || count[e.Digest] <= most[e.Digest] || accepted(e.Digest) {
			continue
		}
		d := &Doubled{Path: path, Entry: e, First: child.Entries[first[e.Digest]], IsKey: len(stanza.Identity.Only) > 0}
		d.Commit = s.ID
		if len(s.Parents) > 0 {
			d.Parent = s.Parents[0]
		}
		if err := r.Collector.Judge(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
