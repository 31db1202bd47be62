package session

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
)

// FindStandings finds out how far the commits of a history have got, by the remote-tracking branches. Without any, all have got as far
// as alone says.
func (s *Session) FindStandings(ctx context.Context, head string, alone history.Standing) error {
	known, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return err
	}
	if len(known) == 0 {
		s.AllStand(alone)
		return nil
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return err
	}
	standings := map[string]history.Standing{}
	note := func(excluded []string, standing history.Standing) error {
		commits, err := s.Repo.Commits(ctx, []string{head}, excluded)
		for _, c := range commits {
			standings[c.ID] = standing
		}
		return err
	}
	if branch.ID != "" {
		known = append(known, branch.ID)
		if err := note([]string{branch.ID}, history.Published); err != nil {
			return err
		}
	}
	if err := note(known, history.Own); err != nil {
		return err
	}
	s.Opts.Standing = func(commit string) history.Standing {
		if standing, ok := standings[commit]; ok {
			return standing
		}
		return history.Landed
	}
	return nil
}

// AllStand has every commit count as having got so far.
func (s *Session) AllStand(standing history.Standing) {
	s.Opts.Standing = func(string) history.Standing { return standing }
}
