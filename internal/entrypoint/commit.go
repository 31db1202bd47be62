package entrypoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/small"
)

// PreCommit judges the index that git is committing from against HEAD, and against every other side of a merge that is being
// concluded. The policy is HEAD's.
func PreCommit(ctx context.Context, req session.Request) *finding.Report {
	return pending(ctx, req.WithLane(), "pre-commit", nil)
}

// PreMergeCommit judges the index against HEAD and the other sides of the merge that git is about to commit. There is no MERGE_HEAD
// yet: git names the other sides in variables called GITHEAD_<object id> (builtin/merge.c sets them for the strategies; githooks(5)
// does not mention them).
func PreMergeCommit(ctx context.Context, req session.Request) *finding.Report {
	return pending(ctx, req.WithLane(), "pre-merge-commit", githistory.GitHeads(req.Environ))
}

// pending judges the index, and what the work tree has lost. merged are the other sides of the merge that it concludes; if none are known,
// MERGE_HEAD says.
func pending(ctx context.Context, req session.Request, mode string, merged []string) *finding.Report {
	return req.Judge(ctx, mode, func(s *session.Session) (*finding.Report, error) {
		head, parents, untrusted := s.TrustHead(ctx, merged)
		report, err := judgePending(ctx, s, head, parents, untrusted)
		if err != nil || untrusted != nil || len(merged) > 0 {
			return report, err
		}
		lost, err := reconcile.Losses(ctx, s.Repo, parents, reconcile.Workspace{Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: s.Opts.Now})
		if err != nil {
			return nil, err
		}
		reports := []*finding.Report{report}
		for _, l := range lost {
			reports = append(reports, gate.Lost(ctx, s.Repo, l.Log, l.Noted, l.Index, l.Gone, s.Opts))
		}
		return finding.Combine(reports), nil
	})
}

// judgePending judges the index. untrusted is what is wrong with HEAD's policy, if anything is.
func judgePending(ctx context.Context, s *session.Session, head string, parents []string, untrusted error) (*finding.Report, error) {
	var invalid *policy.InvalidError
	if untrusted != nil && !errors.As(untrusted, &invalid) {
		return nil, untrusted
	}
	fetched := &prefetchedHistory{History: s.Repo, filter: history.Judged(policy.Default())}
	if untrusted == nil {
		fetched.filter = history.Judged(s.Opts.Policy)
	}
	touched, err := fetched.touches(ctx, history.Index, parents)
	switch {
	case err != nil:
		return nil, err
	case untrusted == nil && !touched && !laneGiven(s), untrusted != nil && !touched && onlyWorkspaces(s):
		return run.Nothing(s.Opts), nil
	case untrusted != nil:
		return nil, &failure.Error{
			Message: failure.Of(untrusted).Message,
			Remedy:  "correct " + policy.File + " and commit it alone with `git commit --no-verify`, since hooks take it from HEAD; " + policy.EveryKey,
			Err:     untrusted,
		}
	}
	return judgeIndex(ctx, s, fetched, head, parents)
}

// onlyWorkspaces reports whether an invalid configuration can neither watch further files nor speak of lanes: then a commit that
// touches no workspace does not depend on it.
func onlyWorkspaces(s *session.Session) bool {
	return s.Req.Lane == "" && !policy.MayConfigureWorkflows(s.Trusted) && !bytes.Contains(s.Trusted, []byte("lane"))
}

// judgeIndex judges the index against its parents, HEAD first if there is one.
func judgeIndex(ctx context.Context, s *session.Session, fetched *prefetchedHistory, head string, parents []string) (*finding.Report, error) {
	// First what the embedded reader may have to leave to git.
	var neighbours []subject.Neighbour
	if s.Opts.Mode == "pre-commit" && head != "" {
		var err error
		if neighbours, err = neighboursOf(ctx, s); err != nil {
			return nil, err
		}
	}
	if head != "" && s.Opts.Policy.Scope == policy.Published {
		published, err := lastPublished(ctx, s, head)
		if err != nil {
			return nil, err
		}
		// What is not published may be edited; the commit that brought it was judged.
		s.Opts.Heads = []string{head}
		parents = append(published, parents[1:]...)
	}
	branch, err := s.Repo.CurrentBranch(ctx)
	if err != nil {
		return nil, err
	}
	s.Opts.Branch = history.ShortRef(branch)
	if s.Opts.Message, err = preparedMessage(s); err != nil {
		return nil, err
	}
	if s.Opts.Reverting, err = s.Reverting(); err != nil {
		return nil, err
	}
	if err := claimOfBranch(ctx, s, head); err != nil {
		return nil, err
	}
	report := gate.Pending(ctx, fetched, parents, s.Opts, neighbours...)
	if report.Verdict == finding.Fail && len(parents) == 1 && len(s.Opts.Heads) == 0 {
		mended, err := mendsHead(ctx, s, fetched, head)
		if err != nil {
			return nil, err
		}
		if mended != nil {
			report = mended
		} else if err := fixCommits(ctx, s, fetched, head, report); err != nil {
			return nil, err
		}
	}
	return s.CheckAdded(ctx, history.Index, report)
}

// mendsHead judges the index as a commit in the place of HEAD, if HEAD has an error and no remote-tracking branch has it: a hook is not told
// that a commit amends. It is nil if the index does not mend HEAD. What is pushed is judged as it is.
func mendsHead(ctx context.Context, s *session.Session, h history.History, head string) (*finding.Report, error) {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	own, err := s.Repo.Commits(ctx, []string{head}, tips)
	at := slices.IndexFunc(own, func(c history.Commit) bool { return c.ID == head })
	if err != nil || at < 0 {
		return nil, err
	}
	opts, parents := s.Opts, own[at].Parents
	opts.Trusted = ""
	mended := gate.Pending(ctx, h, parents, opts)
	if mended.Verdict != finding.Pass || gate.Made(ctx, h, "", head, parents, opts).Verdict != finding.Fail {
		return nil, nil
	}
	return mended, nil
}

// fixCommits has what is wrong with a log in HEAD already put right where it was committed: nothing in the index does that.
func fixCommits(ctx context.Context, s *session.Session, h history.History, head string, report *finding.Report) error {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return err
	}
	s.FindStandings(ctx, head)
	opts := s.Opts
	opts.Trusted = ""
	fixes, known := map[string]string{}, [][]string{tips, nil} // first what nobody else has: that is little
	for i := range report.Findings {
		f := &report.Findings[i]
		same := func(g finding.Finding) bool { return g.Fingerprint() == f.Fingerprint() }
		dir, artifact, _ := small.SplitPath(f.Path)
		if artifact != small.Progress.FileName() || f.Stage != finding.StageLint || f.Severity != finding.SeverityError ||
			!slices.ContainsFunc(gate.Check(ctx, h, head, dir, opts).Findings, same) {
			continue
		}
		for ; fixes[f.Fingerprint()] == "" && len(known) > 0; known = known[1:] {
			for _, g := range gate.Made(ctx, h, "", head, known[0], opts).Findings {
				fixes[g.Fingerprint()] = g.Fix
			}
		}
		f.Fix = cmp.Or(fixes[f.Fingerprint()], f.Fix)
	}
	return nil
}

// preparedMessage is what git has prepared as the message of an agent's next commit, of what it squashes, applies or merges; empty if
// nothing.
func preparedMessage(s *session.Session) (string, error) {
	if s.Req.Agent() == "" {
		return "", nil
	}
	var out []byte
	for _, name := range []string{"SQUASH_MSG", "MERGE_MSG"} {
		text, err := os.ReadFile(filepath.Join(s.Repo.Where().GitDir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", &failure.Error{Message: "cannot read the message of what is being merged: " + err.Error(), Err: err}
		}
		out = append(append(out, text...), '\n')
	}
	return string(out), nil
}

// neighboursOf are the branches on which somebody else may be at work: other work trees first, since of two branches at the same commit
// the first is reported.
func neighboursOf(ctx context.Context, s *session.Session) ([]subject.Neighbour, error) {
	found, err := s.Repo.Neighbours(ctx)
	if err != nil {
		return nil, err
	}
	var trees, upstreams []subject.Neighbour
	for _, n := range found {
		out := subject.Neighbour{Tip: history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}, Worktree: n.Worktree}
		if n.Worktree == "" {
			upstreams = append(upstreams, out)
		} else {
			trees = append(trees, out)
		}
	}
	return append(trees, upstreams...), nil
}

// lastPublished lists the last commits on each way back from head that a remote-tracking branch has; head itself if it is published. What
// came after them may still be amended.
func lastPublished(ctx context.Context, s *session.Session, head string) ([]string, error) {
	tips, err := s.Repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	commits, err := s.Repo.Commits(ctx, []string{head}, tips)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return []string{head}, nil
	}
	return beginnings(history.InOrder(commits)), nil
}

// beginnings are the parents of commits that are not among them.
func beginnings(commits []history.Commit) []string {
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

// prefetchedHistory is a history that has been asked for its first comparison: most commits touch nothing of interest, and then
// nothing is judged.
type prefetchedHistory struct {
	history.History
	filter  history.Filter
	edges   []history.Edge
	changes [][]history.Change
}

// touches reports whether anything of interest differs between a revision and its parents.
func (h *prefetchedHistory) touches(ctx context.Context, child string, parents []string) (bool, error) {
	var err error
	h.edges = history.EdgesOf(child, parents)
	h.changes, err = h.History.Diff(ctx, h.edges, h.filter)
	return slices.ContainsFunc(h.changes, func(c []history.Change) bool { return len(c) > 0 }), err
}

// Diff answers from memory what was asked first.
func (h *prefetchedHistory) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	if slices.Equal(edges, h.edges) && reflect.DeepEqual(f, h.filter) {
		return h.changes, nil
	}
	return h.History.Diff(ctx, edges, f)
}
