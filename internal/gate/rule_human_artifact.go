package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleHumanArtifact = Rule{
	ID: "ownership/human-artifact", Severity: SeverityError, Stage: StageHistory,
	Checks: []RuleCheck{On(checkHumanArtifact)},
}

func checkHumanArtifact(v *CommitWork, r *Reporter) {
	if v.sign.words == "" {
		return
	}
	for _, c := range v.human {
		path := c.artifact.Path(v.dir)
		f := Finding{
			Path: path, Line: c.pos.Line, Column: c.pos.Column, Changes: c.changes, subject: c.key,
			Message: fmt.Sprintf("%s belongs to people, and an agent's commit %s (%s)", artifactWord(c.artifact), c.what, v.sign.words),
			Fix:     fmt.Sprintf("git restore --source=%s -- %s, and have a person make the change in a commit of their own", short(r.Parent), shellQuote(path)),
		}
		if r.Commit == Index {
			f.Fix = fmt.Sprintf("git restore --source=HEAD --staged --worktree -- %s, and have a person make the change in a commit of their own", shellQuote(path))
		}
		if v.sign.hint {
			f.Severity = SeverityWarning
		}
		r.Add(f)
	}
}

// artifactWord names one of the artifacts that belong to people.
func artifactWord(a small.Artifact) string {
	if a == small.Intent {
		return "the intent"
	}
	return "the list of constraints"
}
