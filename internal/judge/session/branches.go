package session

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// findBranches finds the default branch, and the target: the branch into which the checked-out branch will be merged. The target is the upstream. If
// there is no upstream, or if the upstream is only the remote's copy of the checked-out branch, the target is the default branch; without a default
// branch, such a copy is the target after all. A branch that is not found is the zero Tip.
func (s *Session) findBranches(ctx context.Context) (history.Branches, error) {
	defaultBranch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	if err != nil {
		return history.Branches{}, err
	}
	out := history.Branches{Default: tipOf(defaultBranch)}
	out.Target = out.Default
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil || current == "" {
		return out, err
	}
	found, err := s.Repo.Neighbours(ctx)
	for _, n := range found {
		if isUpstream := n.Worktree == ""; isUpstream && (out.Target.ID == "" || !isCopyOf(n.Ref, current)) {
			out.Target = history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}
		}
	}
	return out, err
}

// isCopyOf reports whether tracking is a remote-tracking branch whose name ends in that of the branch local, after a slash: the names of remotes and branches
// may have slashes, too. Both are full names of refs.
func isCopyOf(tracking, local string) bool {
	return strings.HasPrefix(tracking, "refs/remotes/") && strings.HasSuffix(tracking, "/"+history.ShortRef(local))
}

// tipOf returns the commit and the short name of a branch; the zero Tip if the branch has no commit.
func tipOf(b githistory.Branch) history.Tip {
	if b.ID == "" {
		return history.Tip{}
	}
	return history.Tip{ID: b.ID, Name: history.ShortRef(b.Ref)}
}

// SetBranches sets the branches that findBranches would guess: target is the branch into which the judged commits go; defaultBranch is as it is after
// the judged push. A push and CI know these branches better than the clone.
func (s *Session) SetBranches(target, defaultBranch history.Tip) {
	s.Opts.Branches = func(context.Context) (history.Branches, error) {
		return history.Branches{Default: defaultBranch, Target: target}, nil
	}
}
