package session

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// findBranches finds the default branch, and the target: the branch into which the checked-out branch will be merged. The target is the upstream. If
// there is no upstream, or if the upstream is only the remote's copy of the checked-out branch, the target is the default branch.
func (s *Session) findBranches(ctx context.Context) (history.Branches, error) {
	landed, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return history.Branches{}, err
	}
	out := history.Branches{Landed: tipOf(landed)}
	out.Target = out.Landed
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil || current == "" {
		return out, err
	}
	found, err := s.Repo.Neighbours(ctx)
	for _, n := range found {
		if n.Worktree == "" && (out.Target.ID == "" || !isCopyOf(n.Ref, current)) {
			out.Target = history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}
		}
	}
	return out, err
}

// isCopyOf reports whether a remote-tracking branch has the name of a local branch.
func isCopyOf(tracking, local string) bool {
	return strings.HasPrefix(tracking, "refs/remotes/") && strings.HasSuffix(tracking, "/"+history.ShortRef(local))
}

func tipOf(b githistory.Branch) history.Tip {
	if b.ID == "" {
		return history.Tip{}
	}
	return history.Tip{ID: b.ID, Name: history.ShortRef(b.Ref)}
}

// SetBranches sets the branches that findBranches would guess: target is the branch into which the judged commits go, landed is the default branch. A
// push and CI know these branches better than the clone.
func (s *Session) SetBranches(target, landed history.Tip) {
	s.Opts.Branches = func(context.Context) (history.Branches, error) {
		return history.Branches{Landed: landed, Target: target}, nil
	}
}
