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

// checkAddedCopies reports copies of an entry in a configured log: if a commit has more of them than any parent has, the surplus. If the stanza says
// which fields identify an entry (identity.only), a copy is an error.
func checkAddedCopies(ctx context.Context, j *logs.CommitLog, r *rule.Reporter) error {
	stanza := j.Run.Source.Policy.LogFor(j.Path)
	if stanza == nil || j.Run.Source.IsFileEntry(j.Path) {
		return nil
	}
	byFields := len(stanza.Identity.Only) > 0
	doubled, first, err := j.AddedCopies(ctx)
	if err != nil || len(doubled) == 0 {
		return err
	}
	records, err := j.Run.Source.ReaderOf(j.Path).Records(ctx, j.Child.File)()
	if err != nil {
		return err
	}
	for i, e := range doubled {
		if j.IsReturned(e.Digest) {
			continue
		}
		f := finding.Finding{
			Path: j.Path, Line: e.Pos.Line, Column: e.Pos.Column, Subject: "doubled " + e.Digest.String(), Entry: finding.RefOf(e),
			Edits:   []finding.EditKey{{Path: j.Path + "\x00doubled", From: first[i].Digest.String(), To: e.Digest.String()}},
			Message: fmt.Sprintf("%s is there already: it is the same entry as %s%s", ledger.Describe(e), ledger.Describe(first[i]), withText(cmp.Or(ledger.MainText(records[e.Index]), records[e.Index].Canonical()))),
			Fix:     "leave both; a program that reads the log has to ignore the copy",
		}
		if byFields {
			f.Severity = finding.SeverityError
		}
		if j.Run.Source.Policy.RejectsDuplicates(stanza) {
			f.Fix = removalFix(j, byFields)
		}
		r.Add(f)
	}
	return nil
}

// removalFix returns the fix that takes an added entry out of the commit. byFields is true if some fields identify an entry.
func removalFix(j *logs.CommitLog, byFields bool) string {
	if j.Step.Fix != nil {
		return j.Step.Fix(j.Path)
	}
	s := j.Run.Situation(j.Commit)
	if s.Standing == history.Landed && !history.Uncommitted(j.Commit) {
		return s.AcceptSince()
	}
	fix := s.Undo(j.Path, []string{"small-hook restore" + remedy.InDirectory(j.Path)}) + " takes it out of the commit"
	if byFields {
		fix += "; or give it a key of its own"
	}
	return fix
}
