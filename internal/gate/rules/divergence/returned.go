package divergence

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
)

// checkReturned reports what an approved rewrite removed and a commit brings back.
func checkReturned(x *logs.Returned, r *rule.Reporter) {
	to := x.Entry.Digest.String()
	r.Add(finding.Finding{
		Path: x.Path, Line: x.Entry.Pos.Line, Column: x.Entry.Pos.Column, Subject: "returned " + to, Entry: finding.RefOf(x.Entry), EditTo: to,
		Edits:   []finding.EditKey{{Path: x.Path + "\x00returned", To: to}},
		Message: ledger.Describe(x.Entry) + " is back: an approved rewrite of the log had removed it",
		Fix:     x.Run.Situation(x.Commit).Correct(fmt.Sprintf("take %s out again", ledger.Describe(x.Entry)), x.Path),
	})
}
