package session

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
)

// branches are the default branch, and the upstream of the checked-out one, into which that will be merged. An upstream of the same name is
// only the remote's copy of the branch: then, as without an upstream, the target is the default branch.
func (s *Session) branches(ctx context.Context) (history.Branches, error) {
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
		if n.Worktree == "" && (out.Target.ID == "" || !sameName(n.Ref, current)) {
			out.Target = history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}
		}
	}
	return out, err
}

// sameName reports whether a remote-tracking branch is the copy of a local one.
func sameName(tracking, local string) bool {
	return strings.HasPrefix(tracking, "refs/remotes/") && strings.HasSuffix(tracking, "/"+history.ShortRef(local))
}

func tipOf(b githistory.Branch) history.Tip {
	if b.ID == "" {
		return history.Tip{}
	}
	return history.Tip{ID: b.ID, Name: history.ShortRef(b.Ref)}
}

// Into says that what is judged goes into target, and that what landed holds has landed: a push, and CI, know this better than the clone.
func (s *Session) Into(target, landed history.Tip) {
	s.Opts.Branches = func(context.Context) (history.Branches, error) {
		return history.Branches{Landed: landed, Target: target}, nil
	}
}
