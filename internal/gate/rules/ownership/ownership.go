// Package ownership judges who changes what belongs to people, and whether entries name the agent who commits them.
package ownership

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/commits"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Family are the rules about what belongs to people. Package owner says who is an agent.
var Family = run.Family{
	Name: "ownership",
	Rules: []rule.Rule{
		rule.New("ownership/human-artifact", finding.SeverityError, finding.StageHistory, rule.Reading(checkHumanArtifact)),
		rule.New("ownership/agent-id", finding.SeverityError, finding.StageHistory, rule.Reading(checkAgentID)),
	},
}

func checkAgentID(ctx context.Context, w *commits.Work, r *rule.Reporter) error {
	if len(w.NewEntries) == 0 {
		return nil
	}
	by, err := w.Agent(ctx)
	if err != nil || by.Agent == "" {
		return err
	}
	for _, e := range w.NewEntries {
		if e.AgentID == "" || e.AgentID == by.Agent {
			continue
		}
		f := w.EntryFinding(e)
		f.Message = fmt.Sprintf("%s names agent %q, but agent %q made the commit", ledger.Describe(e), e.AgentID, by.Agent)
		f.Fix = "name the agent who did the work, or commit the entry as that agent"
		r.Add(f)
	}
	return nil
}

func checkHumanArtifact(ctx context.Context, w *commits.Work, r *rule.Reporter) error {
	changes, err := w.ChangesOfHumanFiles(ctx)
	if err != nil || len(changes) == 0 {
		return err
	}
	by, err := w.Owner(ctx)
	if err != nil || by.How == "" {
		return err
	}
	for _, c := range changes {
		path := c.Artifact.Path(w.Dir)
		fix := []string{"git restore --source=HEAD --staged --worktree -- " + wording.TopPath(path)}
		if w.Commit == history.Index && slices.ContainsFunc(w.NewEntries, ledger.Entry.Resets) {
			// A reset changes the whole workspace, and its entry ends the run. restore --discard-new copies the new entries into a file first.
			fix = []string{
				"small-hook restore --discard-new" + remedy.InDirectory(path),
				"git restore --source=HEAD --staged --worktree -- " + wording.TopPath(small.InDir(w.Dir, "")),
			}
		}
		f := finding.Finding{
			Path: path, Line: c.Pos.Line, Column: c.Pos.Column, Changes: c.Changes, Subject: c.Key,
			Message: fmt.Sprintf("%s belongs to people, but an agent's commit %s (%s)", c.Words(), c.Does, by.How),
			Fix:     w.Situation().Undo(path, fix, path) + "; a person makes the change, in a commit of their own",
		}
		if by.Uncertain {
			f.Severity = finding.SeverityWarning
		}
		r.Add(f)
	}
	return nil
}
