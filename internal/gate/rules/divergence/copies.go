package divergence

import (
	"cmp"
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkAddedCopies reports entries that a commit adds to a configured log that already has an equal one: those beyond the number that the
// parent with the most copies has. If a few fields identify an entry, a copy is an error.
func checkAddedCopies(ctx context.Context, j *logs.CommitLog, r *rule.Reporter) error {
	stanza := j.Run.Source.Policy.LogFor(j.Path)
	if stanza == nil || j.Run.Source.IsFileEntry(j.Path) {
		return nil
	}
	var before []*ledger.Ledger
	for _, p := range j.Approved {
		for _, l := range p.Ledgers {
			before = append(before, l.Log.Ledger)
		}
	}
	byKey := len(stanza.Identity.Only) > 0
	doubled, first := ledger.AddedCopies(before, j.Child.Log.Ledger)
	if len(doubled) == 0 {
		return nil // the usual case, for which no record is read
	}
	records, err := j.Run.Source.ReaderOf(j.Path).Records(ctx, j.Child.File)()
	if err != nil {
		return err
	}
	for i, e := range doubled {
		if j.IsAccepted(e.Digest) {
			continue
		}
		f := finding.Finding{
			Path: j.Path, Line: e.Pos.Line, Column: e.Pos.Column, Subject: "doubled " + e.Digest.String(), Entry: finding.RefOf(e),
			Edits:   []finding.EditKey{{Path: j.Path + "\x00doubled", From: first[i].Digest.String(), To: e.Digest.String()}},
			Message: fmt.Sprintf("%s is there already: it is the same entry as %s%s", ledger.Describe(e), ledger.Describe(first[i]), withText(cmp.Or(ledger.MainText(records[e.Index]), records[e.Index].Canonical()))),
			Fix:     "nothing is lost; a program that reads the log has to take one of the two",
		}
		if byKey {
			f.Severity = finding.SeverityError
		}
		if j.Run.Source.Policy.RejectsDuplicates(stanza) {
			f.Fix = removalFix(j, byKey)
		}
		r.Add(f)
	}
	return nil
}

// removalFix returns the fix that takes an added entry out of the commit. byKey is true if a few fields identify an entry.
func removalFix(j *logs.CommitLog, byKey bool) string {
	if j.Step.Fix != nil {
		return j.Step.Fix(j.Path)
	}
	s := j.Run.Situation(j.Commit)
	if s.Standing == history.Landed && !history.Uncommitted(j.Commit) {
		return s.AcceptSince()
	}
	fix := s.Undo(j.Path, []string{"small-hook restore" + remedy.InDirectory(j.Path)}) + " takes it out of the commit"
	if byKey {
		fix += "; or give it a key of its own"
	}
	return fix
}
