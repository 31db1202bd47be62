package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
)

// findStandings finds out how far the commits of a history have got, by the remote-tracking branches. Without any, all have got as far
// as alone says.
func (s *session) findStandings(ctx context.Context, head string, alone history.Standing) error {
	known, err := s.repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return err
	}
	if len(known) == 0 {
		s.allStand(alone)
		return nil
	}
	branch, err := githistory.DefaultBranch(ctx, s.repo, "")
	if err != nil {
		return err
	}
	standings := map[string]history.Standing{}
	note := func(excluded []string, standing history.Standing) error {
		commits, err := s.repo.Commits(ctx, []string{head}, excluded)
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
	s.opts.Standing = func(commit string) history.Standing {
		if standing, ok := standings[commit]; ok {
			return standing
		}
		return history.Landed
	}
	return nil
}

// allStand has every commit count as having got so far.
func (s *session) allStand(standing history.Standing) {
	s.opts.Standing = func(string) history.Standing { return standing }
}
