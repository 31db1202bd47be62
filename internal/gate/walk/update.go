package walk

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/wording"
)

// CompareOldTip compares the old tip of a ref with the new one, unless the edges between them were all judged.
func CompareOldTip(ctx context.Context, r *run.Run) error {
	u, w := r.Scope.Update, walker{r}
	if u.Old == "" || w.judgedEveryStep(u) {
		return nil
	}
	old := history.Short(u.Old)
	fix := wording.Commands("small-hook reconcile "+old, "git commit -m 'Keep the log of "+old+"'")
	return w.replaced(ctx, u, func(string) string {
		return "what was published stays: " + fix + ", then push again. This keeps the log without the code"
	})
}

// judgedEveryStep reports whether the new tip descends from the old one by commits that were all judged: then the
// edges have said what became of each entry.
func (r walker) judgedEveryStep(u history.Update) bool {
	if u.Old == "" || r.Scope.UnrelatedLog {
		return false
	}
	parents := map[string][]string{}
	for _, c := range r.Scope.Commits {
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

// CompareTarget compares a branch with the one that it will be merged into. Its findings are warnings at any configured
// level: the branch may have parted in good order, and pushing it may be the way to say so. But if a pull request
// conflicts, its workflows may not run, and only this pass shows it.
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
	if slices.Contains(bases, u.Target.ID) {
		// The branch goes on from the other. What it brings is judged, but not
		// what an earlier push of it brought.
		return walker{r}.replaced(ctx, history.Update{Old: u.Target.ID, New: u.New}, func(string) string {
			return "the branch does not keep what " + u.Target.Name + " has, and is rejected for it when it is merged there"
		})
	}
	return walker{r}.compare(ctx, u.Target, history.Tip{ID: u.New, Name: cmp.Or(u.Name, history.Short(u.New))})
}

// CompareLeft compares the work tree with where its branch was, if the branch has been moved away from there.
func CompareLeft(ctx context.Context, r *run.Run) error {
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
		made, err := r.Source.Commits(ctx, []string{head}, fork)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(made, func(c history.Commit) bool {
			return slices.Equal(c.Parents, fork)
		}); at >= 0 {
			first = made[at].ID
		}
	}
	return walker{r}.replaced(ctx, u, func(path string) string { return subject.Return(u.Old, first, path) })
}

// replaced compares a ref's old tip with its new one: every old entry is in the new ledger, in order. Insertions
// were judged on the edges, so a rebased branch passes. No single commit is to blame, so fix is the remedy for
// all.
func (r walker) replaced(ctx context.Context, u history.Update, fix func(path string) string) error {
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: u.Old, Child: u.New}})
	if err != nil {
		return err
	}
	n := history.Commit{ID: u.New, Parents: []string{u.Old}}
	if u.PolicyFromOldTip {
		r.Scope.NotePolicy(n, changes)
	}
	reverted := r.revertedSince(ctx, u)
	s, err := r.Source.Replacement(ctx, n, changes, reverted)
	if err != nil {
		return err
	}
	s.Fix = fix
	for _, c := range changes[0] {
		if !r.Source.IsLog(c.Path) {
			continue
		}
		if err := r.replacedLog(ctx, c, s, false, reverted); err != nil {
			return err
		}
	}
	return nil
}

// fixOf is the remedy for one log. A record of switches is put back as it was.
func (r walker) fixOf(s *read.Step, path string) string {
	if !r.Source.IsRecord(path) {
		return s.Fix(path)
	}
	return wording.Commands("git restore --source="+history.Short(s.Parents[0])+" --staged --worktree -- "+wording.TopPath(path), `git commit -m "Put back the record"`)
}

// revertedSince looks for what a branch rewrote when it is first asked.
func (r walker) revertedSince(ctx context.Context, u history.Update) read.RevertedFunc {
	find := sync.OnceValues(func() (*rewrites, error) { return r.rewritesOf(ctx, u) })
	return func(before, now *ledger.Ledger) (bool, error) {
		r, err := find()
		return err == nil && r.revertedIn(before, now), err
	}
}

// replacedLog compares one log of a commit with an earlier one that is not its parent's. insertions says whether
// unreconciled insertions are reported; reverted, if set, which rewrites may have been taken back.
func (r walker) replacedLog(ctx context.Context, c history.Change, s *read.Step, insertions bool, reverted read.RevertedFunc) error {
	logs, err := r.Source.LogsBefore(ctx, s.Parents[0], c)
	if err != nil {
		return err
	}
	parent := read.ParentLog{ID: s.Parents[0]}
	parent.Add(c.Path, logs...)
	now := c.New
	if to, moved := s.Moves[0][c.Path]; moved {
		now = to
	}
	var earlier *read.LedgerFile
	if len(logs) > 0 {
		earlier = logs[0]
	}
	after, err := r.Source.Logs(c.Path).Read(ctx, now, earlier)
	if err != nil {
		return err
	}
	if !after.Readable() {
		r.unreadable(s, c.Path, after, []read.ParentLog{parent})
		return nil
	}
	for _, l := range parent.Ledgers {
		e, err := r.compareLogs(ctx, s.Commit, now.Path, c.Path, l, after, []read.ParentLog{parent}, 0)
		if err != nil {
			return err
		}
		if e == nil || e.Relation != ledger.Rewritten && !insertions {
			continue
		}
		if reverted != nil && e.Relation == ledger.Rewritten {
			if is, err := reverted(e.Old, e.New); err != nil || is {
				if err != nil {
					return err
				}
				continue
			}
		}
		if !insertions || e.Reconciled() {
			e.Inserted = nil
			e.Edits = slices.DeleteFunc(e.Edits, func(x ledger.Edit) bool { return x.Kind == ledger.EditInserted })
		}
		e.Parent, e.Branch, e.Fix = parent.ID, s.Branch, r.fixOf(s, now.Path)
		r.judgeEdge(e, s.ID)
	}
	return nil
}
