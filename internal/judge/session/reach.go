package session

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// findReach finds out whether a commit is reachable from a branch, a tag or one of judged, which are the ids of judged commits. id is the commit's id, or
// the beginning of its id. The result's Commit is empty if the clone lacks the commit or may lack some, if several ids begin with id, or if id is also a ref's
// name.
func (s *Session) findReach(ctx context.Context, id string, judged []string) (out history.Reach, err error) {
	if s.lacks == nil {
		lacks, err := s.mayLackCommits(ctx)
		if err != nil {
			return out, err
		}
		if s.refTips, err = s.Repo.Tips(ctx, "refs/heads/", "refs/remotes/", "refs/tags/"); err != nil {
			return out, err
		}
		s.lacks = &lacks
	}
	if *s.lacks {
		out.Unknown = true
		return out, nil
	}
	tips := slices.Concat(s.refTips, judged)
	if commit, err := s.Repo.Resolve(ctx, id); err == nil && strings.HasPrefix(commit, id) {
		unreached, err := s.Repo.Commits(ctx, []string{commit}, tips)
		out = history.Reach{Commit: commit, Reached: len(unreached) == 0}
		return out, err
	}
	// The clone lacks the commit, or several ids begin with id, or Resolve took id for the name of a ref. A walk takes long. If the last walk met all of
	// these tips, and no commit whose id begins with id, no such commit is reachable. If it met one, walk again: the last walk may also have begun from the
	// judged commits of an earlier call, and have met the commit from there.
	isWalked := func(beginning string) bool {
		i, _ := slices.BinarySearch(s.walked, beginning)
		return i < len(s.walked) && strings.HasPrefix(s.walked[i], beginning)
	}
	if s.walked == nil || isWalked(id) || slices.ContainsFunc(tips, func(tip string) bool { return !isWalked(tip) }) {
		all, err := s.Repo.Commits(ctx, tips, nil)
		if err != nil {
			return out, err
		}
		s.walked = make([]string, len(all))
		for i, c := range all {
			s.walked[i] = c.ID
		}
		slices.Sort(s.walked)
		out.Reached = isWalked(id)
	}
	return out, nil
}

// mayLackCommits reports whether branches of the remotes may lead to commits that this clone lacks: in a shallow or partial clone, and in one that has
// fetched a single ref.
func (s *Session) mayLackCommits(ctx context.Context) (bool, error) {
	partial, err := s.Repo.Partial(ctx)
	if err != nil || partial || s.Repo.Where().Shallow {
		return true, err
	}
	specs, err := s.Repo.FetchSpecs(ctx)
	if err != nil || len(specs) == 0 {
		return false, err // there is no remote
	}
	if !slices.ContainsFunc(specs, func(spec string) bool { return strings.Contains(spec, "*") }) {
		return true, nil // git clone --single-branch
	}
	own, err := s.Repo.Tips(ctx, "refs/heads/")
	if err != nil || len(own) > 0 {
		return false, err
	}
	fetched, err := s.Repo.Tips(ctx, "refs/remotes/") // a CI system may fetch the one ref that it checks out
	return len(fetched) <= 1, err
}

// samePatch returns the first of some candidates that makes the same patch as commit; empty if there is none: see [githistory.SamePatch].
func (s *Session) samePatch(ctx context.Context, commit string, candidates []string) (string, error) {
	return githistory.SamePatch(ctx, s.Repo.Where(), s.Req.Environ, commit, candidates)
}
