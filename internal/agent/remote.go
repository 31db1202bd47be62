package agent

import (
	"context"
	"maps"
	"slices"

	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// remote is the state of the remote-tracking branches.
type remote struct {
	at githistory.Place
	// tips are the branches' tips, by name. tipsByOthers are those of them to which others moved the branch, and not a push from this clone.
	// lastReceived are, for all branches, the commits to which others last moved them.
	tips                       map[string]string
	lastReceived, tipsByOthers []string
}

func findRemote(ctx context.Context, s *session.Session) (r remote, err error) {
	r.at = s.Repo.Where()
	if r.tips, err = githistory.Branches(ctx, s.Repo, "refs/remotes/"); err != nil {
		return r, err
	}
	for name, tip := range r.tips {
		before, pushed, err := workgit.BeforePushes(r.at, name, tip)
		switch {
		case err != nil:
			return r, err
		case !pushed:
			r.tipsByOthers = append(r.tipsByOthers, tip)
		default:
			if before, err = ifPresent(ctx, s, before); err != nil {
				return r, err
			}
		}
		if before != "" {
			r.lastReceived = append(r.lastReceived, before)
		}
	}
	return r, nil
}

// has reports whether a remote-tracking branch has a commit.
func (r remote) has(ctx context.Context, s *session.Session, commit string) (bool, error) {
	lacked, err := s.Repo.Commits(ctx, []string{commit}, slices.Collect(maps.Values(r.tips)))
	return err == nil && len(lacked) == 0, err
}

// had reports whether a remote-tracking branch has a commit, or had it as its tip.
func (r remote) had(ctx context.Context, s *session.Session, commit string) (bool, error) {
	for name := range r.tips {
		if was, err := workgit.WasAt(r.at, name, commit); err != nil || was {
			return was, err
		}
	}
	return r.has(ctx, s, commit)
}
