package run

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// Steps says what counts as one step of a branch, for logs that are judged by steps because a branch may change them until it is merged. Each
// commit that has landed is a step from its first parent. Everything that has not landed is one step, from the merge base with the target to the
// tip.
type Steps struct {
	// Target is the branch that will receive what is judged. Its ID is empty if what is judged has landed.
	Target history.Tip
	// Bases are the merge bases of the target and the tip, none if their histories are unrelated. They say nothing if Target is empty.
	Bases []string
	// Unlisted are the commits of the first-parent line that land with a push of the default branch, but are not among the judged commits,
	// because the receiving side had them on another branch.
	Unlisted []history.Commit

	landed, line map[string]bool
}

// Landed reports whether the default branch has a judged commit.
func (s *Steps) Landed(commit string) bool { return s.landed[commit] }

// OnLine reports whether a commit is on the first-parent line of the default branch.
func (s *Steps) OnLine(commit string) bool { return s.line[commit] }

// Branches returns the default branch and the target, on which steps and merges depend. If a change is compared with a base, the base is its
// target.
func (r *Run) Branches(ctx context.Context) (history.Branches, error) {
	if r.Learned.branches == nil {
		var b history.Branches
		if u := r.Scope.Update; r.Options.Branches == nil && !history.Uncommitted(u.New) {
			b.Default, b.Target = u.Target, u.Target
		}
		if r.Options.Branches != nil {
			var err error
			if b, err = r.Options.Branches(ctx); err != nil {
				return b, err
			}
		}
		if r.Scope.Base.ID != "" && r.Scope.Update.New == "" {
			b.Target = r.Scope.Base
		}
		if r.Options.OnlyLastingErrors && r.Scope.Whole { // this run judges what the default branch held before a push
			b.Default, b.Target = r.Scope.Tip, history.Tip{}
		}
		r.Learned.branches = &b
	}
	return *r.Learned.branches, nil
}

// Target returns the branch that receives what is judged. In a merge, the target's side comes first. Its ID is empty if it is not known, and for
// a whole history, which has landed.
func (r *Run) Target(ctx context.Context) (history.Tip, error) {
	if r.Scope.Whole || r.Scope.Adopts {
		return history.Tip{}, nil
	}
	b, err := r.Branches(ctx)
	if b.Target.ID == "" {
		b.Target = b.Default
	}
	return b.Target, err
}

// Steps returns the steps of this run. It returns nil if no log is judged by steps. It also returns nil if neither a target nor the default
// branch is known; every commit is a step then.
func (r *Run) Steps(ctx context.Context) (*Steps, error) {
	if r.Learned.stepsKnown {
		return r.Learned.steps, nil
	}
	r.Learned.stepsKnown = true
	if !slices.ContainsFunc(r.Source.Policy.Logs, func(l policy.Log) bool { return l.JudgedByStep() }) {
		return nil, nil
	}
	b, err := r.Branches(ctx)
	if err != nil || b.Default.ID == "" && b.Target.ID == "" {
		return nil, err
	}
	if b.Target.ID == "" {
		b.Target = b.Default
	}
	s := &Steps{landed: map[string]bool{}, line: map[string]bool{}}
	leavesAt, err := s.findLanded(ctx, r, b)
	if err != nil {
		return nil, err
	}
	if b.Default.ID != r.Scope.Tip.ID || leavesAt != b.Target.ID && !s.line[b.Target.ID] && b.Target.ID != b.Default.ID {
		s.Target = b.Target
		if s.Bases, err = r.mergeBasesWith(ctx, b.Target.ID); err != nil {
			return nil, err
		}
	}
	r.Learned.steps = s
	return s, nil
}

// findLanded finds out which of the judged commits the default branch has, and which commits are on its first-parent line. leavesAt is the first
// commit of that line that it did not look at.
func (s *Steps) findLanded(ctx context.Context, r *Run, b history.Branches) (leavesAt string, err error) {
	if b.Default.ID == "" || history.Uncommitted(r.Scope.Tip.ID) {
		return "", nil
	}
	lands := b.Default.ID == r.Scope.Tip.ID
	for _, c := range r.Learned.Commits {
		s.landed[c.ID] = true
	}
	commits := r.Learned.Commits
	var exclude []string
	switch {
	case lands && r.Scope.Update.Old != "":
		exclude = []string{r.Scope.Update.Old}
	case r.Scope.Base.ID != "":
		exclude = []string{r.Scope.Base.ID}
	}
	if !lands {
		beyond, err := r.Source.Commits(ctx, []string{r.Scope.Tip.ID}, []string{b.Default.ID})
		if err != nil {
			return "", err
		}
		for _, c := range beyond {
			delete(s.landed, c.ID)
		}
		if len(s.landed) == 0 {
			return "", nil
		}
	}
	if !lands || r.Scope.Update.New != "" {
		if commits, err = r.Source.Commits(ctx, []string{b.Default.ID}, exclude); err != nil {
			return "", err
		}
	}
	line := history.FirstParentLine(commits, b.Default.ID)
	for _, c := range line {
		s.line[c.ID] = true
		if !s.landed[c.ID] && lands && r.Scope.Update.Old != "" {
			s.Unlisted = append(s.Unlisted, c)
		}
	}
	if len(line) == 0 {
		return b.Default.ID, nil
	}
	return history.FirstOf(line[0].Parents), nil
}

// mergeBasesWith returns the best common ancestors of a target and the tip. If the tip is not committed yet, its parents take its place.
func (r *Run) mergeBasesWith(ctx context.Context, target string) ([]string, error) {
	heads := []string{r.Scope.Tip.ID}
	if history.Uncommitted(r.Scope.Tip.ID) {
		heads = r.Scope.Parents
	}
	var all []string
	for _, head := range heads {
		bases, err := r.Source.History.MergeBases(ctx, target, head)
		if err != nil {
			return nil, err
		}
		for _, b := range bases {
			if !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	if len(heads) < 2 || len(all) < 2 {
		return all, nil
	}
	var best []string
	for _, b := range all {
		behind := false
		for _, other := range all {
			shared, err := r.Source.History.MergeBases(ctx, b, other)
			if err != nil {
				return nil, err
			}
			behind = behind || b != other && slices.Contains(shared, b)
		}
		if !behind {
			best = append(best, b)
		}
	}
	return best, nil
}
