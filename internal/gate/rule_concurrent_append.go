package gate

import (
	"fmt"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleConcurrentAppend = Rule{
	ID: "divergence/concurrent-append", Severity: SeverityError, Stage: StageHistory,
	Summary: "two branches both appended to one log",
	Why: `The protocol has one writer at a time. Two branches that both append end in a conflict at the same
place of the same file, where the quick resolution keeps one side and loses the other's work. It
happens when two agents run at once, or when a branch goes on while main has moved. Take turns, or
merge explicitly: merge the other branch into yours and type "small-hook reconcile", which keeps every
entry of both in order of time and appends one for meta/reconcile-merge whose evidence names both.`,
	Wrong: `
-- ours/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
`,
	Right: `
-- ours/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
-- theirs/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
-- merge/.small/progress.small.yml --
small_version: "1.0.0"
owner: "agent"
entries:
  - timestamp: "2026-03-01T09:00:00.000000000Z"
    task_id: "meta/init"
    evidence: "workspace created"
  - timestamp: "2026-03-01T09:10:00.000000000Z"
    task_id: "task-1"
    evidence: "importer reads 1204 rows"
  - timestamp: "2026-03-01T09:20:00.000000000Z"
    task_id: "task-2"
    evidence: "checkpoints are written"
  - timestamp: "2026-03-01T09:30:00.000000000Z"
    task_id: "meta/reconcile-merge"
    evidence: "merged main (1 entry) and checkpoints (1 entry)"
`,
	Tips: checkConcurrentAppend,
}

func checkConcurrentAppend(t *tipsView, r *reporter) {
	if t.outcome != tipsDiverged {
		return
	}
	f := t.finding()
	f.Message = fmt.Sprintf("both branches recorded work since they parted: %s has %s (%s); %s has %s (%s)",
		t.targetName, count(len(t.targetOnly), "entry"), entryList(t.targetOnly),
		t.headName, count(len(t.headOnly), "entry"), entryList(t.headOnly))
	if len(t.targetOnly) == 0 && len(t.headOnly) == 0 {
		f.Message = fmt.Sprintf("%s and %s hold the same entries in different orders", t.targetName, t.headName)
	}
	f.Common = commonOf(t.target, t.targetOnly)
	f.Sides = []Side{{Name: t.targetName, Entries: refsOf(t.targetOnly)}, {Name: t.headName, Entries: refsOf(t.headOnly)}}
	f.Fix = fmt.Sprintf("%s, then %s", t.merge, reconcileHint)
	if ours, theirs, same := atOnce(t.targetOnly, t.headOnly); same {
		f.Fix = fmt.Sprintf("%s of %s and %s of %s have the same time, and small-hook reconcile puts neither first: on its branch, record the one that is not published yet again, with the time of recording (git commit --amend, or git rebase -i); then %s",
			entryWords(ours), t.targetName, entryWords(theirs), t.headName, f.Fix)
	}
	r.add(f)
}

// atOnce finds two entries, one of each side, that no order of time can tell
// apart.
func atOnce(target, head []small.Entry) (ours, theirs small.Entry, found bool) {
	at := make(map[time.Time]small.Entry, len(target))
	for _, e := range target {
		if instant, ok := parseInstant(e.Timestamp); ok {
			at[instant.UTC()] = e
		}
	}
	for _, e := range head {
		if instant, ok := parseInstant(e.Timestamp); ok {
			if ours, found = at[instant.UTC()]; found {
				return ours, e, true
			}
		}
	}
	return small.Entry{}, small.Entry{}, false
}
