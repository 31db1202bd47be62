package logs

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// CompareOldTip compares the old tip of a ref with the new one. If every commit between them was judged, and no log moved or was rotated, it does
// nothing.
func CompareOldTip(ctx context.Context, r *run.Run) error {
	u := r.Scope.Update
	judgedAll := u.Old != "" && judgedEveryCommit(r, u)
	if u.Old == "" || !r.Learned.UnrelatedLog && len(r.Learned.Relocated) == 0 && judgedAll {
		return nil
	}
	old := history.Short(u.Old)
	return judgeReplacement(ctx, r, u, func(path string) string {
		if judgedAll && r.Learned.Relocated[path] {
			return oneCommitFix(r, u.Old, path)
		}
		keep := r.OnBranch("small-hook reconcile "+old, "git commit -m 'Keep the log of "+old+"'")
		return "published entries stay: " + keep + ", then push again. This brings back the log, but no code"
	})
}

// judgedEveryCommit reports whether the new tip descends from the old one and every commit between them was judged: the edges then say what became
// of each entry.
func judgedEveryCommit(r *run.Run, u history.Update) bool {
	parents := map[string][]string{}
	for _, c := range r.Learned.Commits {
		parents[c.ID] = c.Parents
	}
	seen := map[string]bool{}
	for next := []string{u.New}; len(next) > 0; next = next[1:] {
		id := next[0]
		above, known := parents[id]
		switch {
		case seen[id] || id == u.Old:
		case !known:
			return false
		default:
			next = append(next, above...)
		}
		seen[id] = true
	}
	return seen[u.Old]
}

// CompareTarget compares a branch with the one into which it will be merged. Its findings are warnings, unless the configuration calls a divergence
// an error: a branch may diverge until it is merged. A push must warn of it, because the workflows of a pull request with conflicts may not run: then
// nothing else shows the divergence.
func CompareTarget(ctx context.Context, r *run.Run) error {
	u := r.Scope.Update
	if u.Target.ID == "" || u.Target.ID == u.New {
		return nil
	}
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: u.Target.ID, Child: u.New}})
	if err != nil || len(changes[0]) == 0 {
		return err
	}
	bases, err := r.Source.History.MergeBases(ctx, u.Target.ID, u.New)
	if err != nil {
		return err
	}
	r.Collector.WarnOnly = true
	defer func() { r.Collector.WarnOnly = false }()
	if err := judgeAgainstTarget(ctx, r); err != nil {
		return err
	}
	if slices.Contains(bases, u.Target.ID) {
		// The branch descends from the target. The commits of this push are judged on their edges, but those of earlier pushes are not.
		return judgeReplacement(ctx, r, history.Update{Old: u.Target.ID, New: u.New}, func(string) string {
			return "the branch does not keep what " + u.Target.Name + " has: if it is merged there, it is rejected"
		})
	}
	return compareBranches(ctx, r, u.Target, history.Tip{ID: u.New, Name: cmp.Or(u.Name, history.Short(u.New))})
}

// CompareAbandonedTip compares the work tree with the tip that its branch had before it was moved away, as by a reset or a rebase; if the branch was
// not moved, it does nothing.
func CompareAbandonedTip(ctx context.Context, r *run.Run) error {
	u := r.Scope.Update
	if u.Old == "" {
		return nil
	}
	first := ""
	if head := slices.Concat(r.Scope.Parents, []string{""})[0]; head != "" {
		var fork []string
		if r.Scope.Base.ID != "" {
			fork = []string{r.Scope.Base.ID}
		}
		commits, err := r.Source.Commits(ctx, []string{head}, fork)
		if err != nil {
			return err
		}
		// The first commit after the fork that HEAD has now: the fix rewrites HEAD's commits from this one on.
		if at := slices.IndexFunc(commits, func(c history.Commit) bool {
			return slices.Equal(c.Parents, fork)
		}); at >= 0 {
			first = commits[at].ID
		}
	}
	return judgeReplacement(ctx, r, u, func(path string) string { return remedy.RestoreLost(u.Old, first, path) })
}

// judgeReplacement judges the step from a ref's old tip to its new one: every old entry must be in the new ledger, in order. Insertions were judged
// on the edges, so a rebased branch passes. No single commit is to blame, so all findings about a log have the fix that fix returns.
func judgeReplacement(ctx context.Context, r *run.Run, u history.Update, fix func(path string) string) error {
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: u.Old, Child: u.New}})
	if err != nil {
		return err
	}
	n := history.Commit{ID: u.New, Parents: []string{u.Old}}
	if u.PolicyFromOldTip {
		r.NotePolicy(n, changes)
	}
	onlyUndone := newOnlyUndone(ctx, r, u)
	s, err := r.Source.StepBetween(ctx, n, changes, false, onlyUndone)
	if err != nil {
		return err
	}
	s.Fix = func(path string) string {
		if r.Source.IsFamilyLog(path) {
			return wording.Commands("git restore --source="+history.Short(u.Old)+" --staged --worktree -- "+wording.TopPath(path), `git commit -m "Put back the record" -- `+wording.TopPath(path))
		}
		return fix(path)
	}
	for _, c := range changes[0] {
		if !r.Source.IsLog(c.Path) {
			continue
		}
		if u.Target.ID != "" && r.Source.Policy.LogFor(c.Path).FrozenOnceMerged() {
			continue // entries that the target has are judged as one step; the branch may change all others
		}
		if err := judgeReplacedLog(ctx, r, c, s, false, onlyUndone); err != nil {
			return err
		}
	}
	return nil
}

// newOnlyUndone returns rewrites.onlyUndone for the rewrites of an update's branch. The function finds the rewrites when it is first called.
func newOnlyUndone(ctx context.Context, r *run.Run, u history.Update) read.RevertedFunc {
	find := sync.OnceValues(func() (*rewrites, error) { return findRewrites(ctx, r, u) })
	return func(before, now *ledger.Ledger) (bool, error) {
		r, err := find()
		return err == nil && r.onlyUndone(before, now), err
	}
}

// judgeReplacedLog judges one log on a step between two commits of which one need not be a parent of the other. reportInsertions says whether
// unreconciled insertions are reported. onlyUndone, if set, says whether only rewrites were undone, which is not reported.
func judgeReplacedLog(ctx context.Context, r *run.Run, c history.Change, s *read.Step, reportInsertions bool, onlyUndone read.RevertedFunc) error {
	now := c.New
	if to, moved := s.Moves[0][c.Path]; moved {
		now = to
	}
	parent, after, err := readBothVersions(ctx, r, s, c, now)
	if err != nil {
		return err
	}
	if !after.Readable() {
		return judgeUnreadable(ctx, r, s, c.Path, after, []read.ParentLog{parent})
	}
	approved := parent
	approved.Ledgers = slices.Clone(parent.Ledgers)
	var edges []*LogChange
	for i, l := range parent.Ledgers {
		e, err := compareLogs(ctx, r, history.Commit{ID: s.ID}, now.Path, c.Path, l, after, []read.ParentLog{parent}, 0) // without Parents: this is not the edge of a commit
		if err != nil {
			return err
		}
		if e == nil || e.Relation != ledger.Rewritten && !reportInsertions {
			continue
		}
		edges, approved.Ledgers[i] = append(edges, e), e.parentAfterRewrite(l)
		if onlyUndone != nil && e.Relation == ledger.Rewritten {
			if is, err := onlyUndone(e.Old, e.New); err != nil || is {
				if err != nil {
					return err
				}
				continue
			}
		}
		if !reportInsertions || e.Reconciled() {
			e.Inserted = nil
		}
		e.Parent, e.Branch, e.Fix = parent.ID, s.Branch, s.Fix(now.Path)
		if err := judgeEdge(ctx, r, e, s.ID); err != nil {
			return err
		}
	}
	if !reportInsertions {
		return nil
	}
	return judgeHeadLog(ctx, r, s, c.Path, now.Path, after, parent, approved, edges)
}

// judgeHeadLog judges a log on the head of a predicted merge as a CommitLog, as if the step was one commit; copies that the target has added stay, so
// for the target it does nothing. A log that moved is judged only from its old path.
func judgeHeadLog(ctx context.Context, r *run.Run, s *read.Step, oldPath, path string, after *read.LedgerFile, parent, approved read.ParentLog, edges []*LogChange) error {
	if s.ID != r.Scope.Tip.ID || s.MovedTo(0, oldPath) {
		return nil
	}
	log, err := newCommitLog(ctx, r, s, path, after, []read.ParentLog{parent}, []read.ParentLog{approved}, edges)
	if err != nil {
		return err
	}
	return r.Collector.Judge(ctx, log)
}

// readBothVersions reads a log before and after a step that is no commit. before is the log with the step's rotations applied, after is read from the
// file now.
func readBothVersions(ctx context.Context, r *run.Run, s *read.Step, c history.Change, now history.File) (before read.ParentLog, after *read.LedgerFile, err error) {
	logs, err := r.Source.LogsBefore(ctx, s.Parents[0], c)
	if err != nil {
		return before, nil, err
	}
	logs = s.ApplyRotation(0, c.Path, logs)
	before = read.ParentLog{ID: s.Parents[0]}
	before.Add(c.Path, logs...)
	var earlier *read.LedgerFile
	if len(logs) > 0 {
		earlier = logs[0]
	}
	after, err = r.Source.ReaderOf(c.Path).Read(ctx, now, earlier)
	return before, after, err
}
