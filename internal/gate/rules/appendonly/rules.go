// Package appendonly judges what commits did to earlier entries of logs.
package appendonly

import (
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Family are the rules about changes of entries that were recorded before. They judge before log/schema: of two findings about one new entry
// only the first is reported, and where the entry stands matters more than its form.
var Family = run.Family{
	Name: "appendonly",
	Rules: []rule.Rule{
		rule.New("append-only/modified", finding.SeverityError, finding.StageHistory, rule.On(reportEdits(ledger.EditModified, (*logs.LogChange).DescribeModified))).ForEdits(ledger.EntryChanged),
		rule.New("append-only/deleted", finding.SeverityError, finding.StageHistory, rule.Reading(checkDeleted)).ForEdits(ledger.EntryLost),
		rule.New("append-only/reordered", finding.SeverityError, finding.StageHistory, rule.On(reportEdits(ledger.EditReordered, describeReordered))),
		rule.New("append-only/inserted", finding.SeverityError, finding.StageHistory, rule.On(checkInserted)).ForEdits(ledger.EntryInserted),
		rule.New("append-only/out-of-order", finding.SeverityError, finding.StageHistory, rule.Reading(checkOrder), rule.Reading(checkBranchOrder)),
		rule.New("append-only/log-deleted", finding.SeverityError, finding.StageHistory, rule.Reading(checkLogDeleted)).ForEdits(ledger.LogEnded),
		rule.New("append-only/timestamp-migrated", finding.SeverityError, finding.StageHistory, rule.On(checkTimestampMigrated)).ForEdits(ledger.EntryChanged),
		rule.New("append-only/task-reassigned", finding.SeverityError, finding.StageHistory, rule.On(checkTaskReassigned)).ForEdits(ledger.EntryChanged),
		rule.New("append-only/future-timestamp", finding.SeverityError, finding.StageHistory, rule.On(checkFutureTimestamp)),
		rule.New("append-only/reconciled-insertion", finding.SeverityNote, finding.StageHistory, rule.On(checkReconciledInsertion)).ForEdits(ledger.InsertionExplained),
		rule.New("append-only/draft-edit", finding.SeverityWarning, finding.StageHistory, rule.On(checkDraftEdit)),
	},
}
