package session

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
)

// FindStandings has a judgement find out, once a finding asks, how far the commits of a history have got, by the remote-tracking branches
// and tags. On a server, which has no such branches, all have landed.
func (s *Session) FindStandings(ctx context.Context, head string) {
	find := sync.OnceValues(func() (map[string]history.Standing, error) { return s.unlanded(ctx, head) })
	s.Opts.Remote = func() (history.Remote, error) { return s.remote(ctx) }
	s.Opts.Standing = func(commit string) (history.Standing, error) {
		standings, err := find()
		if standing, ok := standings[commit]; ok || err != nil {
			return standing, err
		}
		return history.Landed, nil
	}
}

// unlanded is how far the commits of a history have got that are not on the remote's default branch.
func (s *Session) unlanded(ctx context.Context, head string) (map[string]history.Standing, error) {
	known, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil || s.Repo.Where().Bare && len(known) == 0 {
		return nil, err
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return nil, err
	}
	tags, err := s.Repo.Tips(ctx, "refs/tags/")
	if err != nil {
		return nil, err
	}
	var landed []string
	if strings.HasPrefix(branch.Ref, "refs/remotes/") && branch.ID != "" {
		landed = []string{branch.ID}
	}
	standings := map[string]history.Standing{}
	for _, of := range []struct {
		standing history.Standing
		excluded []string
	}{{history.Published, landed}, {history.Tagged, known}, {history.Own, slices.Concat(known, tags)}} {
		commits, err := s.Repo.Commits(ctx, []string{head}, of.excluded)
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			standings[c.ID] = of.standing
		}
	}
	return standings, nil
}

// remote is what remote-tracking branches say about the remote.
func (s *Session) remote(ctx context.Context) (out history.Remote, err error) {
	known, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil || len(known) == 0 {
		return history.Remote{None: true}, err
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	_, out.Target, _ = strings.Cut(history.ShortRef(branch.Ref), "/")
	if name, local := strings.CutPrefix(branch.Ref, "refs/heads/"); local {
		out.Target = name
	}
	return out, err
}

// AllStand has every commit count as having got so far: others have them, whatever this clone knows of a remote.
func (s *Session) AllStand(ctx context.Context, standing history.Standing) {
	s.Opts.Standing = func(string) (history.Standing, error) { return standing, nil }
	s.Opts.Remote = func() (history.Remote, error) {
		out, err := s.remote(ctx)
		out.None = false
		return out, err
	}
}
