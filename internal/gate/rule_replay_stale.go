package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleReplayStale = Rule{
	ID: "replay/stale", Severity: SeverityWarning, Stage: StageHistory,
	Summary: "intent or constraints changed in meaning, and the replay id did not",
	Why: `A replay id is a fingerprint of what was declared when the run began: two runs with one id are taken
to have had the same intent and the same constraints. If these change and the handoff goes on with the
old id, the entries before and after the change look alike, though they answer to different
declarations. It is a warning, since only who changed the intent knows whether the work so far
still counts. Start a new run and regenerate the handoff; small-hook replay-id prints the
fingerprint of what is declared now. Comments, quoting and the order of keys change no meaning, and the
handoff may be regenerated in a later commit of the same change.`,
	Wrong: `
-- 2/.small/intent.small.yml --
small_version: "1.0.0"
owner: "human"
intent: "Import the billing export of every year"
scope: {include: ["importer/**"], exclude: []}
success_criteria: ["A stopped import continues"]
`,
	Right: `
-- 2/.small/intent.small.yml --
small_version: "1.0.0"
owner: "human"
intent: "Import the billing export of every year"
scope: {include: ["importer/**"], exclude: []}
success_criteria: ["A stopped import continues"]
-- 2/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The intent has changed"
resume: {current_task_id: "task-1", next_steps: ["Read the export"]}
links: []
replayId:
  value: "4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a"
  source: "manual"
`,
	Work: checkReplayStale,
}

func checkReplayStale(v *workView, r *reporter) {
	var changed []string
	var first *humanChange
	for i := range v.human {
		if c := &v.human[i]; len(c.changes) > 0 { // it was there, and it is
			changed = append(changed, artifactWord(c.artifact))
			first = cmp.Or(first, c)
		}
	}
	if !v.stale || first == nil {
		return
	}
	verb := "has"
	if len(changed) > 1 {
		verb = "have"
	}
	r.add(Finding{
		Path: first.artifact.Path(v.dir), Line: first.pos.Line, Column: first.pos.Column, subject: first.key,
		Message: fmt.Sprintf("%s %s changed in meaning, and %s goes on with the same replay id", strings.Join(changed, " and "), verb, small.Handoff.Path(v.dir)),
		Fix:     "start a new run and regenerate the handoff; `small-hook replay-id` prints the fingerprint of what is declared now",
	})
}
