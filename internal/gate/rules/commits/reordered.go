package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Reordered is append-only/reordered: earlier entries were put in another order.
var Reordered = rule.New("append-only/reordered", finding.SeverityError, finding.StageHistory, rule.On(reportEdits(ledger.EditReordered, func(e *subject.LogChange, x ledger.Edit) string {
	return fmt.Sprintf("%s was moved; it is entry %d now", ledger.Describe(e.Old.Entries[x.OldIndex]), x.NewIndex+1)
})))
