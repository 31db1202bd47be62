package gate

import "fmt"

var ruleReordered = Rule{
	ID: "append-only/reordered", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(reportEdits(editReordered, func(e *LogEdge, x edit) string {
		return fmt.Sprintf("%s was moved; it is entry %d now", entryWords(e.old.Entries[x.before]), x.after+1)
	}))},
}
