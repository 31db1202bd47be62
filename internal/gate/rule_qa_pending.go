package gate

import "fmt"

var ruleQAPending = Rule{
	ID: "lane/qa-pending", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "a change landed in a lane that is tried after the merge, and nobody has tried it yet",
	Why: `With "lanes: {qa: after-merge}" in the configuration a deep change may land before it was tried. An
audit then lists each one, along the first parents of the history, for which no entry for meta/qa with
evidence was added, neither with it nor later. Try what has landed, and append an entry whose evidence says what
was found; it covers everything that landed before.

The lane is the one that the change claims with a trailer or an entry, or that the configuration gives
it. A change of documents alone is not listed.`,
	Wrong: `
-- 1/.small-gate.yml --
version: 1
lanes: {qa: after-merge}
-- 2/COMMIT --
Author: Ada <ada@example.com>

Store the currency

Lane: deep
-- 2/db/migrations/0002_currency.sql --
alter table bills add column currency text;
`,
	Right: `
-- 1/.small-gate.yml --
version: 1
lanes: {qa: after-merge}
-- 2/COMMIT --
Author: Ada <ada@example.com>

Store the currency

Lane: deep
-- 2/db/migrations/0002_currency.sql --
alter table bills add column currency text;
-- 3/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "meta/qa"
    evidence: "migrated a copy of the live data and back"
`,
	Lane: func(v *laneView, r *reporter) {
		for _, pattern := range v.untried {
			r.add(Finding{
				Path: v.log, subject: v.state.head + " " + pattern,
				Message: fmt.Sprintf("commit %s landed in lane %q, and neither it nor a later commit adds a %q entry with evidence", short(v.state.head), v.state.claim.Lane, pattern),
				Fix:     v.record(pattern),
			})
		}
	},
}
