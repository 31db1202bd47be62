package lanes

import (
	"context"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// landing is the commits that one first-parent commit of a branch, head, brought to it. base is the first parent of
// head; empty for a root.
type landing struct {
	base, head string
	commits    []history.Commit
}

// landings returns the landings in head's first-parent history, oldest first. Of the commits, parents come before children.
func landings(commits []history.Commit, head string) []landing {
	line := history.FirstParentLine(commits, head)
	out := make([]landing, len(line))
	for i, c := range line {
		out[i] = landing{base: history.FirstOf(c.Parents), head: c.ID}
	}
	by := history.BroughtBy(line, commits)
	for _, c := range commits {
		if i, landed := by[c.ID]; landed {
			out[i].commits = append(out[i].commits, c)
		}
	}
	return out
}

// splitQueue splits a push to the default branch into changes, each judged in its own lane. If the first-parent history from
// base to head has only merges, each merge is a change: a merge queue pushes several finished changes at once.
// Otherwise the push is one change.
func splitQueue(commits []history.Commit, base, head string) []landing {
	out := landings(commits, head)
	merged := func(l landing) bool { return len(l.commits) > 0 && len(l.commits[len(l.commits)-1].Parents) > 1 }
	if len(out) == 0 || out[0].base != base || slices.ContainsFunc(out, func(l landing) bool { return !merged(l) }) {
		return []landing{{base: base, head: head, commits: commits}}
	}
	return out
}

// judgeLandings finds the changes in a first-parent history whose lane requires an entry after the work that neither they
// nor later changes add.
func judgeLandings(ctx context.Context, r *run.Run) error {
	cfg := settings(r)
	if !r.Scope.Whole || !cfg.QAAfterMerge {
		return nil
	}
	own := *r
	own.Options.Lane, own.Options.Labels = "", nil // these belong to a single change
	each := &own
	untried := slices.Concat(cfg.Fast.After, cfg.Standard.After, cfg.Deep.After)
	for _, l := range slices.Backward(landings(r.Learned.Commits, r.Scope.Tip.ID)) {
		s, err := findLanded(ctx, each, l)
		if err != nil {
			return err
		}
		untried = slices.DeleteFunc(untried, func(pattern string) bool {
			return slices.ContainsFunc(s.Entries, func(e laneEntry) bool {
				return policy.MatchTask(pattern, e.TaskID) && e.evidenceProblem() == ""
			})
		})
		if len(untried) == 0 {
			return nil
		}
		var pending []string
		for _, pattern := range s.Rigour.After {
			if slices.Contains(untried, pattern) {
				pending = append(pending, pattern)
			}
		}
		if len(pending) == 0 {
			continue
		}
		if documents, err := changesOnlyDocuments(ctx, each, s); err != nil {
			return err
		} else if documents {
			continue
		}
		if s.Log, err = logFor(ctx, each, s); err != nil {
			return err
		}
		s.Place = rule.Place{Commit: l.head, Parent: l.base}
		if err := r.Collector.Judge(ctx, laneLanding{s, pending}); err != nil {
			return err
		}
	}
	return nil
}

func findLanded(ctx context.Context, r *run.Run, l landing) (*laneChange, error) {
	s := &laneChange{Head: l.head, Commits: l.commits}
	if l.base != "" {
		s.Bases = []string{l.base}
	}
	return s, findClaim(ctx, r, s)
}

// laneLanding is a change that has landed. pending are the patterns that no entry of it or of a later change matches.
type laneLanding struct {
	*laneChange
	pending []string
}

// checkPending is lane/qa-pending: a change has landed that is tested after the merge, and nobody has tested it yet.
func checkPending(s laneLanding, r *rule.Reporter) {
	for _, pattern := range s.pending {
		r.Add(finding.Finding{
			Path: s.Log, Subject: s.Head + " " + pattern,
			Message: fmt.Sprintf("commit %s landed in lane %q, and neither it nor a later commit adds a %q entry with evidence", history.Short(s.Head), s.Claim.Lane, pattern),
			Fix:     recordEntry(s.laneChange, pattern),
		})
	}
}
