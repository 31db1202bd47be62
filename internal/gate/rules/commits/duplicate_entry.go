package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// DuplicateEntry is divergence/duplicate-entry: two sides hold the same entry under two times.
var DuplicateEntry = rule.New("divergence/duplicate-entry", finding.SeverityWarning, finding.StageHistory, rule.On(checkMergedDuplicates), rule.On(checkForkDuplicates))

func checkMergedDuplicates(m *subject.MergedLog, r *rule.Reporter) {
	reportDuplicates(r, m.Path, m.Sides, m.Duplicates)
}

func checkForkDuplicates(v *subject.WorkspaceFork, r *rule.Reporter) {
	reportDuplicates(r, small.Progress.Path(v.Dir), [2]string{v.TargetName, v.HeadName}, v.Duplicates)
}

func reportDuplicates(r *rule.Reporter, path string, sides [2]string, pairs [][2]ledger.Entry) {
	for _, pair := range pairs {
		a, b := pair[0].Digest.String(), pair[1].Digest.String()
		key := min(a, b) + " " + max(a, b)
		r.Add(finding.Finding{
			Path: path, Line: pair[1].Pos.Line, Column: pair[1].Pos.Column, Subject: "duplicate " + key,
			Entry: finding.RefOf(pair[1]),
			Edits: []finding.EditKey{{Path: path + "\x00duplicate", From: min(a, b), To: max(a, b)}},
			Message: fmt.Sprintf("%s of %s says the same as %s of %s, at another time",
				ledger.Describe(pair[0]), sides[0], ledger.Describe(pair[1]), sides[1]),
			Fix: "nothing is lost, and both stay; if it is one event, say so in a new entry",
		})
	}
}
