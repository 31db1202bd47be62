package lanes

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/policy"
)

// landing is what one first-parent commit of a branch, head, brought to it; base is that commit's first parent,
// empty for a root.
type landing struct {
	base, head string
	commits    []history.Commit
}

// landings are those of head's first-parent history, oldest first.
func landings(commits []history.Commit, head string) []landing {
	byID := map[string]history.Commit{}
	for _, c := range commits {
		byID[c.ID] = c
	}
	var out []landing
	for c, on := byID[head]; on; c, on = byID[out[len(out)-1].base] {
		l := landing{head: c.ID}
		if len(c.Parents) > 0 {
			l.base = c.Parents[0]
		}
		out = append(out, l)
	}
	slices.Reverse(out)
	landed := map[string]int{}
	for i, l := range out {
		for next := []string{l.head}; len(next) > 0; next = next[1:] {
			if _, before := landed[next[0]]; !before {
				landed[next[0]] = i
				next = append(next, byID[next[0]].Parents...)
			}
		}
	}
	for _, c := range commits {
		if i, on := landed[c.ID]; on {
			out[i].commits = append(out[i].commits, c)
		}
	}
	return out
}

// splitQueue takes apart what a push brings to the default branch. A merge queue pushes several finished changes
// at once, each with a merge of its own and judged in its own lane: if the first-parent history from base to head
// has only merges, each is a change. Otherwise a branch continued by itself and merged others, which is one
// change.
func splitQueue(commits []history.Commit, base, head string) []landing {
	out := landings(commits, head)
	merged := func(l landing) bool { return len(l.commits) > 0 && len(l.commits[len(l.commits)-1].Parents) > 1 }
	if len(out) == 0 || out[0].base != base || slices.ContainsFunc(out, func(l landing) bool { return !merged(l) }) {
		return []landing{{base: base, head: head, commits: commits}}
	}
	return out
}

// JudgeLandings finds the changes of a first-parent history for which no entry after the work was added, with them
// or later.
func JudgeLandings(ctx context.Context, r *run.Run) error {
	cfg := &r.Source.Policy.Lanes
	if !cfg.QAAfterMerge {
		return nil
	}
	own := *r
	own.Options.Lane, own.Options.Labels = "", nil // they are about one change
	each := laneFinder{&own}
	untried := slices.Concat(cfg.Fast.After, cfg.Standard.After, cfg.Deep.After)
	for _, l := range slices.Backward(landings(r.Scope.Commits, r.Scope.Tip.ID)) {
		s, err := each.landed(ctx, l)
		if err != nil {
			return err
		}
		untried = slices.DeleteFunc(untried, func(pattern string) bool {
			return slices.ContainsFunc(s.Entries, func(e subject.LaneEntry) bool {
				return policy.MatchTask(pattern, e.TaskID) && e.EvidenceProblem() == ""
			})
		})
		if len(untried) == 0 {
			return nil
		}
		for _, pattern := range s.Rigour.After {
			if slices.Contains(untried, pattern) {
				s.Pending = append(s.Pending, pattern)
			}
		}
		if len(s.Pending) == 0 {
			continue
		}
		if documents, err := each.documentsAlone(ctx, s); err != nil {
			return err
		} else if documents {
			continue
		}
		if s.Log, err = each.logFor(ctx, s); err != nil {
			return err
		}
		s.Place = rule.Place{Commit: l.head, Parent: l.base}
		r.Collector.Judge(subject.LaneLanding{LaneChange: s})
	}
	return nil
}

func (r laneFinder) landed(ctx context.Context, l landing) (*subject.LaneChange, error) {
	s := &subject.LaneChange{Head: l.head, Commits: l.commits}
	if l.base != "" {
		s.Bases = []string{l.base}
	}
	for i := range s.Commits {
		signature, err := r.Source.History.Signature(ctx, s.Commits[i].ID)
		if err != nil {
			return nil, err
		}
		s.Commits[i].Lanes = history.ClaimedLanes([]byte(signature.Message))
	}
	return s, r.findClaim(ctx, s)
}
