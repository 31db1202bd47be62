package commits

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// HumanArtifact is ownership/human-artifact: an agent's commit changes what intent or constraints say.
var HumanArtifact = rule.New("ownership/human-artifact", finding.SeverityError, finding.StageHistory, rule.On(checkHumanArtifact))

func checkHumanArtifact(v *subject.CommitWork, r *rule.Reporter) {
	if v.Authorship.Reason == "" {
		return
	}
	for _, c := range v.HumanChanges {
		path := c.Artifact.Path(v.Dir)
		fix := []string{"git restore --source=HEAD --staged --worktree -- " + wording.TopPath(path)}
		if v.Commit == history.Index && slices.ContainsFunc(v.NewEntries, ledger.Entry.Resets) {
			// A reset changes the whole workspace, and its entry ends the run. What was recorded with it is kept in a file.
			fix = []string{
				"small-hook restore --discard-new" + subject.InDirectory(path),
				"git restore --source=HEAD --staged --worktree -- " + wording.TopPath(small.InDir(v.Dir, "")),
			}
		}
		f := finding.Finding{
			Path: path, Line: c.Pos.Line, Column: c.Pos.Column, Changes: c.Changes, Subject: c.Key,
			Message: fmt.Sprintf("%s belongs to people, but an agent's commit %s (%s)", artifactWord(c.Artifact), c.What, v.Authorship.Reason),
			Fix:     v.Situation().Undo(path, fix, path) + "; a person makes the change, in a commit of their own",
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
