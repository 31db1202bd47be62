package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
)

// landing is what one commit of a branch brought to it: head is that commit, and base
// is its first parent, empty for a root.
type landing struct {
	base, head string
	commits    []Commit
}

// landings are what each of the commits brought that is on the way back from head by
// first parents, oldest first.
func landings(commits []Commit, head string) []landing {
	byID := map[string]Commit{}
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

// queue takes apart what a push brings to the default branch. A merge queue pushes
// several finished changes at once, each with a merge of its own, and each was judged
// in its own lane: where the way from base to head by first parents has nothing but
// merges, each is a change with what it merged. Otherwise a branch went on by itself
// and merged others, and that is one change.
func queue(commits []Commit, base, head string) []landing {
	out := landings(commits, head)
	merged := func(l landing) bool { return len(l.commits) > 0 && len(l.commits[len(l.commits)-1].Parents) > 1 }
	if len(out) == 0 || out[0].base != base || slices.ContainsFunc(out, func(l landing) bool { return !merged(l) }) {
		return []landing{{base: base, head: head, commits: commits}}
	}
	return out
}

// LaneLanding is a change that has landed, and for which some entry is missing.
type LaneLanding struct{ *LaneChange }

// judgeUntried finds the changes of a history, along first parents, for which no
// entry after the work was ever added: neither with them nor later.
func judgeUntried(r *run, ctx context.Context) error {
	cfg := &r.src.policy.Lanes
	if !cfg.QAAfterMerge {
		return nil
	}
	own := *r
	own.opts.Lane, own.opts.Labels = "", nil // they are about one change
	each := lanes{&own}
	untried := slices.Concat(cfg.Fast.After, cfg.Standard.After, cfg.Deep.After)
	for _, l := range slices.Backward(landings(r.scope.commits, r.scope.tip.ID)) {
		s, err := each.landed(ctx, l)
		if err != nil {
			return err
		}
		untried = slices.DeleteFunc(untried, func(pattern string) bool {
			return slices.ContainsFunc(s.entries, func(e laneEntry) bool { return policy.MatchTask(pattern, e.TaskID) && e.lacks() == "" })
		})
		if len(untried) == 0 {
			return nil
		}
		for _, pattern := range s.rigour.After {
			if slices.Contains(untried, pattern) {
				s.untried = append(s.untried, pattern)
			}
		}
		if len(s.untried) == 0 {
			continue
		}
		if documents, err := each.documentsAlone(ctx, s); err != nil {
			return err
		} else if documents {
			continue
		}
		if s.log, err = each.logFor(ctx, s); err != nil {
			return err
		}
		s.Place = Place{Commit: l.head, Parent: l.base}
		r.out.judge(LaneLanding{s})
	}
	return nil
}

// landed finds the lane of what one commit brought.
func (r lanes) landed(ctx context.Context, l landing) (*LaneChange, error) {
	s := &LaneChange{head: l.head, commits: l.commits}
	if l.base != "" {
		s.bases = []string{l.base}
	}
	for i := range s.commits {
		signature, err := r.src.history.Signature(ctx, s.commits[i].ID)
		if err != nil {
			return nil, err
		}
		s.commits[i].Lanes = ClaimedLanes([]byte(signature.Message))
	}
	return s, r.findClaim(ctx, s)
}
