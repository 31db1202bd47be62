package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// SetStandings sets the function with which a judgement finds out how far each commit of head's history may have spread. The function looks at remote-tracking
// branches and tags, and is called only if a finding needs it. In a bare repository without remote-tracking branches, as on a server, all commits have
// landed.
func (s *Session) SetStandings(ctx context.Context, head string) { s.SetStandingsOf(ctx, head, "HEAD") }

// SetStandingsOf is SetStandings for a commit to which a revision was resolved: if it is a branch that is not checked out here, the function also finds
// out where that is.
func (s *Session) SetStandingsOf(ctx context.Context, head, revision string) {
	s.Opts.Standings = func() (out history.Standings, err error) {
		out.Rest = history.Landed
		if out.Of, err = s.findStandings(ctx, head); err == nil {
			out.Remote, err = s.readRemote(ctx)
		}
		if err == nil {
			out.Head, err = s.Repo.Head(ctx)
		}
		if err == nil && revision != "HEAD" {
			out.Elsewhere, err = s.findElsewhere(ctx, revision, head)
		}
		return out, err
	}
}

// findElsewhere finds the local branch that a revision names, or else a branch whose tip is commit. It returns the zero value if that is checked out
// here, or if there is none.
func (s *Session) findElsewhere(ctx context.Context, revision, commit string) (history.Elsewhere, error) {
	if s.Repo.Where().Bare {
		return history.Elsewhere{}, nil
	}
	const folder = "refs/heads/"
	ref := folder + strings.TrimPrefix(revision, folder)
	current, err := s.Repo.CurrentBranch(ctx)
	if err != nil || current == ref {
		return history.Elsewhere{}, err
	}
	branches, err := githistory.Branches(ctx, s.Repo, folder)
	if err != nil {
		return history.Elsewhere{}, err
	}
	if branches[ref] == "" {
		head, err := s.Repo.Head(ctx)
		if err != nil || head == commit {
			return history.Elsewhere{}, err
		}
		names := slices.Sorted(maps.Keys(branches))
		at := slices.IndexFunc(names, func(name string) bool { return branches[name] == commit })
		if at < 0 {
			return history.Elsewhere{}, nil
		}
		ref = names[at]
	}
	out := history.Elsewhere{Branch: strings.TrimPrefix(ref, folder)}
	others, err := s.Repo.Neighbours(ctx)
	for _, n := range others {
		if n.Ref == ref {
			out.WorkTree = n.Worktree
		}
	}
	return out, err
}

// findStandings finds out how far the commits of head's history may have spread. It leaves out those on the remote's default branch, which have landed.
// It returns nil for a bare repository without remote-tracking branches.
func (s *Session) findStandings(ctx context.Context, head string) (map[string]history.Standing, error) {
	published, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil || s.Repo.Where().Bare && len(published) == 0 {
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
	walks := []struct {
		standing history.Standing
		excluded []string
	}{{history.Published, landed}, {history.Tagged, published}, {history.Own, slices.Concat(published, tags)}} // a later walk overrides an earlier one
	for i, walk := range walks {
		if i+1 < len(walks) && slices.Equal(walk.excluded, walks[i+1].excluded) {
			continue // the next walk finds the same commits, and a walk of a whole history takes long
		}
		commits, err := s.Repo.Commits(ctx, []string{head}, walk.excluded)
		if err != nil {
			return nil, err
		}
		for _, c := range commits {
			standings[c.ID] = walk.standing
		}
	}
	return standings, nil
}

// readRemote finds out, from remote-tracking branches, whether there is a remote, and the name of its default branch. If only a local default branch is
// found, it returns that branch's name.
func (s *Session) readRemote(ctx context.Context) (out history.Remote, err error) {
	published, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil || len(published) == 0 {
		return history.Remote{None: true}, err
	}
	branch, err := githistory.DefaultBranch(ctx, s.Repo, "")
	_, out.DefaultBranch, _ = strings.Cut(history.ShortRef(branch.Ref), "/")
	if name, local := strings.CutPrefix(branch.Ref, "refs/heads/"); local {
		out.DefaultBranch = name
	}
	return out, err
}

// SetStandingOfAll gives every commit the same standing, whatever remote-tracking branches this clone has.
func (s *Session) SetStandingOfAll(ctx context.Context, standing history.Standing) {
	s.Opts.Standings = func() (history.Standings, error) {
		remote, err := s.readRemote(ctx)
		remote.None = false
		return history.Standings{Rest: standing, Remote: remote}, err
	}
}
