package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
)

// reach looks for a commit by its id or a prefix of it, among all commits reachable from branches, tags and some heads.
func (s *Session) reach(ctx context.Context, id string, heads []string) (out history.Reach, err error) {
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
	// It is not here, or its prefix is ambiguous. A walk takes long, so the last one answers for all ids that no commit of it has.
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

// samePatch finds the commit among some that makes the same patch as another.
func (s *Session) samePatch(ctx context.Context, commit string, among []string) (string, error) {
	return githistory.SamePatch(ctx, s.Repo.Where(), s.Req.Environ, commit, among)
}
