package commits

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// HumanArtifact is ownership/human-artifact: an agent's commit changes what intent or constraints say.
var HumanArtifact = rule.Rule{
	ID: "ownership/human-artifact", Severity: finding.SeverityError, Stage: finding.StageHistory,
	Checks: []rule.Check{rule.On(checkHumanArtifact)},
}

func checkHumanArtifact(v *subject.CommitWork, r *rule.Reporter) {
	if v.Authorship.Reason == "" {
		return
	}
	for _, c := range v.HumanChanges {
		path := c.Artifact.Path(v.Dir)
		f := finding.Finding{
			Path: path, Line: c.Pos.Line, Column: c.Pos.Column, Changes: c.Changes, Subject: c.Key,
			Message: fmt.Sprintf("%s belongs to people, but an agent's commit %s (%s)", artifactWord(c.Artifact), c.What, v.Authorship.Reason),
			Fix:     v.Situation().Redo("git restore --source=HEAD --staged --worktree -- "+wording.TopPath(path)) + "; a person makes the change, in a commit of their own",
		}
		if v.Authorship.Uncertain {
			f.Severity = finding.SeverityWarning
		}
		r.Add(f)
	}
}

func artifactWord(a small.Artifact) string {
	if a == small.Intent {
		return "the intent"
	}
	return "the list of constraints"
}
