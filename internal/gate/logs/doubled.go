package logs

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Doubled is an entry of a configured log that a commit adds although an equal one is there.
type Doubled struct {
	rule.Place
	Run  *run.Run
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
	}
	if p := d.Run.Source.Policy; p.RejectsDoubles(p.LogFor(d.Path)) {
		f.Fix = d.fix()
	}
	r.Add(f)
}

// fix takes the added entry out of the commit.
func (d *Doubled) fix() string {
	s := d.Run.Situation(d.Commit)
	if s.Standing == history.Landed && !history.Uncommitted(d.Commit) {
		return s.AcceptSince()
	}
	fix := s.Undo(d.Path, []string{"small-hook restore" + remedy.InDirectory(d.Path)}) + " takes it out of the commit"
	if d.IsKey {
		fix += "; or give it a key of its own"
	}
	return fix
}

// judgeDoubled finds entries that a commit adds although an equal one is there: those beyond the number that the parent with the most has.
func judgeDoubled(ctx context.Context, r *run.Run, s *read.Step, path string, child *ledger.Ledger, parents []read.ParentLog, accepted func(small.Digest) bool) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || r.Source.OfFile(path) {
		return nil
	}
	var before []*ledger.Ledger
	for _, p := range parents {
		for _, l := range p.Ledgers {
			before = append(before, l.Log.Ledger)
		}
	}
	doubled, first := ledger.Doubles(before, child)
	for i, e := range doubled {
		if accepted(e.Digest) {
			continue
		}
		d := &Doubled{Run: r, Path: path, Entry: e, First: first[i], IsKey: len(stanza.Identity.Only) > 0}
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
