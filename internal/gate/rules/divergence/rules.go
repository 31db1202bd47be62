// Package divergence judges logs to which two writers appended without knowing of each other.
package divergence

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Family are the rules about branches that both appended to a log, and about merges of them.
var Family = run.Family{
	Name: "divergence",
	Rules: []rule.Rule{
		rule.New("divergence/concurrent-append", finding.SeverityError, finding.StageHistory, rule.On(checkConcurrentAppend), rule.On(checkNeighbour)),
		rule.New("divergence/lost-entry", finding.SeverityError, finding.StageHistory, rule.On(checkLostEntry)).ForEdits(ledger.EntryLost),
		rule.New("divergence/unreconciled", finding.SeverityError, finding.StageHistory, rule.On(checkUnreconciled), rule.On(checkUnreconciledTips)),
		rule.New("divergence/run", finding.SeverityError, finding.StageHistory, rule.On(checkForkRun)),
		rule.New("divergence/plan", finding.SeverityWarning, finding.StageHistory, rule.On(checkForkPlan)),
		rule.New("divergence/double-claim", finding.SeverityWarning, finding.StageHistory, rule.On(checkDoubleClaim)),
		rule.New("divergence/duplicate-entry", finding.SeverityWarning, finding.StageHistory,
			rule.Reading(checkMergedDuplicates), rule.On(checkForkDuplicates), rule.Reading(checkAddedCopies)),
		rule.New("divergence/returned-entry", finding.SeverityError, finding.StageHistory, rule.On(checkReturned)),
		rule.New("divergence/interleaved-runs", finding.SeverityWarning, finding.StageHistory, rule.On(checkInterleavedRuns)),
	},
}
