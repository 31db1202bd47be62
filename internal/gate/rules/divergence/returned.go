package divergence

import (
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkReturned reports entries that a commit brings back after an approved rewrite had removed them.
func checkReturned(l *logs.CommitLog, r *rule.Reporter) {
	for _, e := range l.Returned {
		situation := l.Run.Situation(l.Commit)
		fix := situation.Correct("take "+ledger.Describe(e)+" out again", l.Path)
		switch {
		case l.Run.Source.IsFileEntry(l.Path) && history.Uncommitted(l.Commit):
			fix = wording.Commands("git rm -q -f -- " + wording.TopPath(l.Path))
		case situation.Merge:
			fix = remedy.Reconcile
		}
		to := e.Digest.String()
		r.Add(finding.Finding{
			Path: l.Path, Line: e.Pos.Line, Column: e.Pos.Column, Subject: "returned " + to, Entry: finding.RefOf(e), EditTo: to,
			Edits:   []finding.EditKey{{Path: l.Path + "\x00returned", To: to}},
			Message: ledger.Describe(e) + " is back: an approved rewrite of the log had removed it",
			Fix:     fix,
		})
	}
}
