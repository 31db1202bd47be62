package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleHumanArtifact = Rule{
	ID: "ownership/human-artifact", Severity: SeverityError, Stage: StageHistory,
	Summary: "an agent's commit changes what intent or constraints say",
	Why: `Intent and constraints are a person's word: why the work exists, and what it must not do. An agent
that may rewrite them can drop the constraint that stands in its way. A commit is an agent's if its
author matches a pattern of agents.authors ([bot] names, if nothing else is configured), or, in a hook,
if SMALL_AGENT_ID is set. If only a trailer says so (agents.trailers, or Small-Agent), or the name of
the branch (small/agent-ID), the finding is a warning, since people use assistants too.

What counts is the meaning: comments, the order of keys and quoting are free. The first creation of a
file is nobody's offence, and neither is what a merge brings from one of its sides. The author is taken
as it stands in the commit; a mailmap is not applied. Have a person make the change, in a commit of their own.`,
	Wrong: `
-- 1/COMMIT --
Author: Ada <ada@example.com>

Set up the workspace
-- 2/COMMIT --
Author: importer[bot] <importer[bot]@users.noreply.example.com>

Loosen the constraint
-- 2/.small/constraints.small.yml --
small_version: "1.0.0"
owner: "human"
constraints:
  - {id: "keep-api", rule: "Public functions may change", severity: "warn"}
-- 2/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The workspace is set up"
resume: {current_task_id: "task-1", next_steps: ["Read the export"]}
links: []
replayId:
  value: "4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a"
  source: "auto"
`,
	Right: `
-- 1/COMMIT --
Author: Ada <ada@example.com>

Set up the workspace
-- 2/COMMIT --
Author: Ada <ada@example.com>

Loosen the constraint
-- 2/.small/constraints.small.yml --
small_version: "1.0.0"
owner: "human"
constraints:
  - {id: "keep-api", rule: "Public functions may change", severity: "warn"}
-- 2/.small/handoff.small.yml --
small_version: "1.0.0"
owner: "agent"
summary: "The workspace is set up"
resume: {current_task_id: "task-1", next_steps: ["Read the export"]}
links: []
replayId:
  value: "4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a"
  source: "auto"
`,
	Work: checkHumanArtifact,
}

func checkHumanArtifact(v *workView, r *reporter) {
	if v.sign.words == "" {
		return
	}
	for _, c := range v.human {
		path := c.artifact.Path(v.dir)
		f := Finding{
			Path: path, Line: c.pos.Line, Column: c.pos.Column, Changes: c.changes, subject: c.key,
			Message: fmt.Sprintf("%s belongs to people, and an agent's commit %s (%s)", artifactWord(c.artifact), c.what, v.sign.words),
			Fix:     fmt.Sprintf("git restore --source=%s -- %s, and have a person make the change in a commit of their own", short(r.parent), shellQuote(path)),
		}
		if r.commit == Index {
			f.Fix = fmt.Sprintf("git restore --source=HEAD --staged --worktree -- %s, and have a person make the change in a commit of their own", shellQuote(path))
		}
		if v.sign.hint {
			f.Severity = SeverityWarning
		}
		r.add(f)
	}
}

// artifactWord names one of the artifacts that belong to people.
func artifactWord(a small.Artifact) string {
	if a == small.Intent {
		return "the intent"
	}
	return "the list of constraints"
}
