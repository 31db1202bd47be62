package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// findReach finds out whether a commit is reachable from branches, tags or the heads. id is the commit's id, or the beginning of it.
func (s *Session) findReach(ctx context.Context, id string, heads []string) (out history.Reach, err error) {
	partial, err := s.Repo.Partial(ctx)
	if err != nil || partial || s.Repo.Where().Shallow {
		out.Unknown = true
		return out, err
	}
	tips, err := s.Repo.Tips(ctx, "refs/heads/", "refs/remotes/", "refs/tags/")
	if err != nil {
		return out, err
	}
	tips = append(tips, heads...)
	if commit, err := s.Repo.Resolve(ctx, id); err == nil && strings.HasPrefix(commit, id) {
		beyond, err := s.Repo.Commits(ctx, []string{commit}, tips)
		out = history.Reach{Commit: commit, Reached: len(beyond) == 0}
		return out, err
	}
	// The commit is not here, or several ids begin with id. A walk takes long, so it is repeated only if a tip is new, or if the last walk met id: that
	// walk may have started from other tips.
	has := func(commit string) bool { return strings.HasPrefix(commit, id) }
	unknown := func(tip string) bool { return !s.walked[tip] }
	if s.walked == nil || slices.ContainsFunc(tips, unknown) || slices.ContainsFunc(slices.Collect(maps.Keys(s.walked)), has) {
		all, err := s.Repo.Commits(ctx, tips, nil)
		if err != nil {
			return out, err
		}
		s.walked = map[string]bool{}
		for _, c := range all {
			s.walked[c.ID] = true
			out.Reached = out.Reached || has(c.ID)
		}
	}
	return out, nil
}

// samePatch finds, among some commits, the one that makes the same patch as another commit.
func (s *Session) samePatch(ctx context.Context, commit string, among []string) (string, error) {
	return githistory.SamePatch(ctx, s.Repo.Where(), s.Req.Environ, commit, among)
}
