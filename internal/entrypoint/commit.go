package entrypoint

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
)

// PreCommit judges the index that git is committing from against HEAD, and
// against every other side of a merge that is being concluded. The policy is
// HEAD's.
func PreCommit(ctx context.Context, req Request) *gate.Report {
	return pending(ctx, req.withLane(), pendingCommit{
		mode:   "pre-commit",
		others: func(repo repository) ([]string, error) { return repo.MergeHeads(ctx) },
		beside: true,
	})
}

// PreMergeCommit judges the index against HEAD and the other sides of the
// merge that git is about to commit. There is no MERGE_HEAD yet: git names the
// other sides in variables called GITHEAD_<object id> (builtin/merge.c sets
// them for the strategies; githooks(5) says nothing of them).
func PreMergeCommit(ctx context.Context, req Request) *gate.Report {
	return pending(ctx, req.withLane(), pendingCommit{mode: "pre-merge-commit", others: func(repo repository) ([]string, error) {
		others := githistory.GitHeads(req.Environ)
		if len(others) > 0 {
			return others, nil
		}
		return repo.MergeHeads(ctx)
	}})
}

// pendingCommit is what differs between the hooks that judge the index.
type pendingCommit struct {
	mode string
	// others are the sides of a merge beside HEAD.
	others func(repository) ([]string, error)
	// beside says to look at neighbours as well.
	beside bool
}

func pending(ctx context.Context, req Request, what pendingCommit) *gate.Report {
	return inRepository(ctx, req, what.mode, func(s *session) (*gate.Report, error) {
		head, err := s.repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		merged, err := what.others(s.repo)
		if err != nil {
			return nil, err
		}
		parents := parentsOf(head, merged)
		history, trusted, err := s.foresee(ctx, head)
		if err != nil {
			return nil, err
		}
		touched, err := history.touches(ctx, gate.Index, parents)
		if err != nil {
			return nil, err
		}
		if !touched && !s.laneClaimed(ctx, head) {
			return gate.Nothing(s.opts), nil
		}
		if !trusted {
			if err := s.trustHead(ctx, head); err != nil {
				return nil, wayOut(err)
			}
		}
		if !touched && !s.laneGiven() {
			return gate.Nothing(s.opts), nil
		}
		what.beside = what.beside && head != ""
		return s.judgeIndex(ctx, what, history, head, parents)
	})
}

// judgeIndex judges the index against its parents, HEAD first if there is one.
func (s *session) judgeIndex(ctx context.Context, what pendingCommit, history *foreseen, head string, parents []string) (*gate.Report, error) {
	// First what the embedded reader may have to leave to git.
	var neighbours []gate.Neighbour
	if what.beside {
		var err error
		if neighbours, err = s.neighbours(ctx); err != nil {
			return nil, err
		}
	}
	if head != "" && s.opts.Policy.Scope == policy.Published {
		published, err := s.published(ctx, head)
		if err != nil {
			return nil, err
		}
		// What is not published may be edited, but whoever committed it has
		// answered for it.
		s.opts.Heads = []string{head}
		parents = append(published, parents[1:]...)
	}
	branch, err := s.repo.CurrentBranch(ctx)
	if err != nil {
		return nil, err
	}
	s.opts.Branch = shortRef(branch)
	if err := s.claimOfBranch(ctx, head); err != nil {
		return nil, err
	}
	report := gate.Pending(ctx, history, parents, s.opts, neighbours...)
	if !history.bringsPolicy() {
		return report, nil
	}
	return s.withBrought(ctx, gate.Index, report)
}

// parentsOf lists the parents that a commit would have. An unborn HEAD is none.
func parentsOf(head string, merged []string) []string {
	var parents []string
	if head != "" {
		parents = append(parents, head)
	}
	for _, id := range merged {
		if id != head {
			parents = append(parents, id)
		}
	}
	return parents
}

// trustHead takes the policy from HEAD; an unborn one has none.
func (s *session) trustHead(ctx context.Context, head string) error {
	label := "HEAD"
	if head == "" {
		label = ""
	}
	return s.trust(ctx, head, label)
}

// foresee prepares the first comparison. trusted says that the policy had to be
// read for it, since it may name further files.
func (s *session) foresee(ctx context.Context, head string) (history *foreseen, trusted bool, err error) {
	history = &foreseen{History: s.repo}
	if trusted, err = s.mayConfigureWorkflows(ctx, head); err != nil || !trusted {
		return history, false, err
	}
	if err := s.trustHead(ctx, head); err != nil {
		return nil, false, wayOut(err)
	}
	history.Watch(s.opts.Policy.Workflows.Watched())
	return history, true, nil
}

// neighbours are the branches on which somebody else may be at work: a branch in
// another work tree is told rather than an upstream that is at the same commit.
func (s *session) neighbours(ctx context.Context) ([]gate.Neighbour, error) {
	found, err := s.repo.Neighbours(ctx)
	if err != nil {
		return nil, err
	}
	var trees, upstreams []gate.Neighbour
	for _, n := range found {
		out := gate.Neighbour{Tip: gate.Tip{ID: n.ID, Name: shortRef(n.Ref)}, Worktree: n.Worktree}
		if n.Worktree == "" {
			upstreams = append(upstreams, out)
		} else {
			trees = append(trees, out)
		}
	}
	return append(trees, upstreams...), nil
}

// published lists the last commits on each way back from head that a
// remote-tracking branch holds; head itself where it is published. What came
// after them may still be amended.
func (s *session) published(ctx context.Context, head string) ([]string, error) {
	tips, err := s.repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	commits, err := s.repo.Commits(ctx, []string{head}, tips)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return []string{head}, nil
	}
	return beginnings(commits), nil
}

// beginnings are the commits from which some others go on: their parents that
// are not among them.
func beginnings(commits []gate.Commit) []string {
	own := map[string]bool{}
	for _, c := range commits {
		own[c.ID] = true
	}
	var out []string
	for _, c := range commits {
		for _, p := range c.Parents {
			if !own[p] {
				own[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// foreseen is a history whose first comparison was asked for in advance: most
// commits touch nothing under .small/, and then neither a policy is read nor
// anything judged.
type foreseen struct {
	gate.History
	edges   []gate.Edge
	changes [][]gate.Change
	// watched are the patterns of what is watched.
	watched []string
}

// touches reports whether anything of interest differs between a revision and
// its parents.
func (f *foreseen) touches(ctx context.Context, child string, parents []string) (bool, error) {
	var err error
	f.edges = gate.EdgesOf(child, parents)
	f.changes, err = f.History.Changes(ctx, f.edges)
	return slices.ContainsFunc(f.changes, func(c []gate.Change) bool { return len(c) > 0 }), err
}

// Watch forgets what was foreseen with other files in view.
func (f *foreseen) Watch(patterns []string) {
	if !slices.Equal(patterns, f.watched) {
		f.edges, f.changes, f.watched = nil, nil, patterns
		f.History.Watch(patterns)
	}
}

// Changes answers the foreseen question from memory.
func (f *foreseen) Changes(ctx context.Context, edges []gate.Edge) ([][]gate.Change, error) {
	if len(edges) == len(f.edges) {
		same := true
		for i := range edges {
			same = same && edges[i] == f.edges[i]
		}
		if same {
			return f.changes, nil
		}
	}
	return f.History.Changes(ctx, edges)
}
