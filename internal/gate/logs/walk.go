// Package logs follows logs from commit to commit and compares them between branches. What it finds is judged by the families append-only
// and divergence, and by others.
package logs

import (
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/commits"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// JudgeIndex judges the edges of the index.
func JudgeIndex(ctx context.Context, r *run.Run) error {
	return walk(ctx, r, []history.Commit{{ID: history.Index, Parents: r.Scope.Parents}})
}

// JudgeWorkTree judges the edges of the work tree, for logs only: other files there may not be finished.
func JudgeWorkTree(ctx context.Context, r *run.Run) error {
	n := history.Commit{ID: history.WorkTree, Parents: r.Scope.Parents}
	changes, err := r.Source.ChangesOf(ctx, []history.Commit{n})
	if err != nil {
		return err
	}
	r.Learned.Note(r.Source, changes[0]...)
	s, err := r.Source.NewStep(ctx, n, changes[0])
	if err != nil {
		return err
	}
	added, err := judgeLogs(ctx, r, s)
	if err != nil {
		return err
	}
	for _, entries := range added {
		r.Account.Uncommitted += len(entries)
	}
	return JudgeBranch(ctx, r)
}

// JudgeCommits judges every edge of the commits.
func JudgeCommits(ctx context.Context, r *run.Run) error {
	err := walk(ctx, r, r.Learned.Commits)
	r.Learned.Walked = err == nil
	return err
}

// walk judges every edge of the commits.
func walk(ctx context.Context, r *run.Run, commits []history.Commit) error {
	changes, err := r.Source.ChangesOf(ctx, commits)
	if err != nil {
		return err
	}
	if r.Scope.Whole || r.Scope.Adopts {
		r.Source.NoteHistory(commits, changes)
	}
	for i, c := range commits {
		if err := judgeCommit(ctx, r, c, changes[i]); err != nil {
			return err
		}
		if r.Options.Progress != nil {
			r.Options.Progress(i+1, len(commits))
		}
	}
	return JudgeBranch(ctx, r)
}

// judgeCommit judges one commit's edges; changes has one element for each.
func judgeCommit(ctx context.Context, r *run.Run, n history.Commit, changes [][]history.Change) error {
	r.NotePolicy(n, changes)
	own := run.NewTouched()
	own.Note(r.Source, changes...)
	r.Learned.Note(r.Source, changes...)
	s, err := r.Source.NewStep(ctx, n, changes)
	if err != nil {
		return err
	}
	r.Learned.UnrelatedLog = r.Learned.UnrelatedLog || s.UnrelatedLog
	for _, path := range s.Relocated() {
		if r.Source.Policy.LogFor(path) != nil {
			r.Learned.Relocated[path] = true
		}
	}
	added, err := judgeLogs(ctx, r, s)
	if err != nil || r.Options.Lasting {
		return err
	}
	for _, entries := range added {
		r.Learned.NoteOrigin(n.ID, entries)
	}
	// A commit that migrates a workspace is not work on the files of 1.0.0.
	dirs := slices.DeleteFunc(run.SortedKeys(own.Workspaces), func(dir string) bool {
		profile := small.InDir(dir, records.ProfileFile)
		return r.Source.IsImmutableRecord(profile) && len(history.PathsOf(changes, func(path string) bool { return path == profile })) > 0
	})
	if err := commits.Judge(ctx, r, n, changes, dirs, added); err != nil {
		return err
	}
	if r.Each != nil && n.ID != history.Index {
		return r.Each(ctx, r, n.ID, own)
	}
	return nil
}

// judgeLogs judges the logs that a commit changes, and returns, by path, the entries that no parent has.
func judgeLogs(ctx context.Context, r *run.Run, s *read.Step) (added map[string][]ledger.Entry, err error) {
	added = map[string][]ledger.Entry{}
	for _, path := range history.PathsOf(s.Changes, r.Source.IsLog) {
		if r.Scope.Logs != nil && !r.Scope.Logs(path) {
			continue
		}
		step, err := StepOf(ctx, r, s, r.Source.Policy.LogFor(path), (*policy.Log).FrozenMerged)
		if err != nil {
			return nil, err
		}
		if step == nil {
			err = noteDraft(ctx, r, s, path)
		} else if _, changed := history.ChangeIn(step.Changes, path); changed {
			added[path], err = judgeLog(ctx, r, step, path)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.Source.Policy.Logs) == 0 {
		return added, nil
	}
	return added, r.Collector.Judge(ctx, &Commit{Place: placeOf(s), Run: r, Step: s})
}

// judgeLog judges one log on all edges of a commit, and returns the entries that no parent has.
func judgeLog(ctx context.Context, r *run.Run, s *read.Step, path string) ([]ledger.Entry, error) {
	if err := checkSince(ctx, r, path); err != nil {
		return nil, err
	}
	if past, err := r.IsPast(ctx, s.ID, path); err != nil || past {
		return nil, err
	}
	child, parents, err := r.Source.ReadVersions(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if !child.Readable() {
		return nil, unreadable(ctx, r, s, path, child, parents)
	}
	views, approved, err := viewsOf(ctx, r, s, path, child, parents)
	if err != nil {
		return nil, err
	}
	log, err := commitLog(ctx, r, s, path, child, parents, approved, views)
	if err != nil {
		return nil, err
	}
	added, misplaced := read.NewEntries(child.Log.Ledger, approved)
	added = slices.DeleteFunc(added, func(index int) bool { return log.accepted(child.Log.Entries[index].Digest) })
	misplaced = slices.DeleteFunc(misplaced, func(index int) bool { return log.Excused(child.Log.Entries[index].Digest) })
	if err := judgeViews(ctx, r, s, path, child, approved, views, added, misplaced); err != nil {
		return nil, err
	}
	if err := r.Collector.Judge(ctx, log); err != nil {
		return nil, err
	}
	if len(views) == 0 && len(added) > 0 {
		e := &LogChange{Path: path, Comparison: &ledger.Comparison{Old: &ledger.Ledger{}, New: child.Log.Ledger, Relation: ledger.Extended, ReconcileEntry: -1, NewRecords: r.Source.ReaderOf(path).Records(ctx, child.File)}, NewEntries: added}
		if len(s.Parents) > 0 {
			e.Parent = s.Parents[0]
		}
		if err := judgeEdge(ctx, r, e, s.ID); err != nil {
			return nil, err
		}
	}
	return ledger.Pick(child.Log.Ledger, added), nil
}

// viewsOf compares one log on all edges of a commit on which it changed. approved are the parents' logs as approved rewrites let them become.
func viewsOf(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) (views []*LogChange, approved []read.ParentLog, err error) {
	approved = slices.Clone(parents)
	for i, p := range parents {
		approved[i].Ledgers = slices.Clone(p.Ledgers)
		for k, before := range p.Ledgers {
			e, err := compareLogs(ctx, r, s.Commit, path, p.Paths[k], before, child, parents, i)
			if err != nil {
				return nil, nil, err
			}
			if e != nil {
				if e.SetParent(s.Commit, i); s.Fix != nil {
					e.Fix = s.Fix(path)
				}
				e.ParentHasNoLog = p.NoLog && p.Paths[k] == path
				views = append(views, e)
				approved[i].Ledgers[k] = e.approvedOld(before)
			}
		}
	}
	return views, approved, fixUnsoundSide(ctx, r, s, path, parents, views)
}

// judgeViews judges one log on the edges on which it changed. added are the entries that no parent has, and misplaced those of them that stand
// before a parent's entry.
func judgeViews(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog, views []*LogChange, added, misplaced []int) error {
	if len(views) > 0 {
		views[0].NewEntries, views[0].Misplaced = added, withoutVersions(misplaced, views)
		if r.Source.Policy.LogFor(path).Free() {
			views[0].Misplaced = nil
		}
	}
	err := judgeTargetFirst(ctx, r, s, path, child, parents, views)
	for i := 0; i < len(views) && err == nil; i++ {
		views[i].AddsInMerge = views[i].Merge && len(added) > 0
		err = judgeEdge(ctx, r, views[i], s.ID)
	}
	return err
}

// judgeTargetFirst adds to the misplaced entries of a merge those that the target does not have and that stand before an entry of the target:
// such a branch, once squashed, would insert them. It judges configured logs with an order, if a target is known.
func judgeTargetFirst(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog, views []*LogChange) error {
	stanza := r.Source.Policy.LogFor(path)
	if stanza == nil || stanza.Free() || r.Source.IsFileEntry(path) || len(parents) < 2 || len(views) == 0 {
		return nil
	}
	into, err := r.Target(ctx)
	if err != nil || into.ID == "" {
		return err
	}
	same := func(l *read.LedgerFile) bool {
		return slices.Equal(ledger.DigestsOf(l.Log.Ledger), ledger.DigestsOf(child.Log.Ledger))
	}
	if slices.ContainsFunc(parents, func(p read.ParentLog) bool { return slices.ContainsFunc(p.Ledgers, same) }) {
		return nil // a parent has the same log: the merge did not put it together
	}
	target, err := targetsLog(ctx, r, into.ID, path, parents)
	if err != nil || !target.Readable() {
		return err
	}
	past, err := r.Source.BeforeSince(ctx, stanza, contained(r, s.Commit), path)
	if err != nil {
		return err
	}
	left := map[small.Digest]int{}
	for _, e := range r.Source.EquivalenceByWaivers(path, path).ApplyRewrite(target.Log.Ledger, child.Log.Ledger).Entries {
		left[e.Digest]++
	}
	lacks := []int{}
	for i, e := range child.Log.Entries {
		if left[e.Digest] == 0 {
			if !past[e.Digest] {
				lacks = append(lacks, i)
			}
			continue
		}
		left[e.Digest]--
		for _, index := range lacks {
			if !slices.Contains(views[0].Misplaced, index) {
				views[0].BeforeTarget = append(views[0].BeforeTarget, index)
			}
		}
		lacks = nil
	}
	return nil
}

// targetsLog is the target's version of a log, which may have moved to its path on an edge from a parent; nil if it has none.
func targetsLog(ctx context.Context, r *run.Run, target, path string, parents []read.ParentLog) (log *read.LedgerFile, err error) {
	paths := []string{path}
	for _, p := range parents {
		paths = append(paths, p.Paths...)
	}
	for _, at := range paths {
		if log, err = r.Source.LogAt(ctx, target, at); err != nil || log != nil {
			return log, err
		}
	}
	return nil, nil
}

// withoutVersions leaves out new versions of entries that a parent has: those are reported as modifications, or
// waived.
func withoutVersions(misplaced []int, views []*LogChange) []int {
	versions := map[int]bool{}
	for _, e := range views {
		for _, x := range e.Edits {
			if x.OldIndex >= 0 && x.NewIndex >= 0 {
				versions[x.NewIndex] = true
			}
		}
	}
	return slices.DeleteFunc(misplaced, func(at int) bool { return versions[at] })
}

// compareLogs compares one parent's log, at the path was, with the child's; nil if nothing changed.
func compareLogs(ctx context.Context, r *run.Run, n history.Commit, path, was string, before, child *read.LedgerFile, parents []read.ParentLog, side int) (*LogChange, error) {
	p, c := before.Log.Ledger, child.Log.Ledger
	if p == c && was == path {
		return nil, nil
	}
	equal, err := r.Source.EquivalenceOn(ctx, n.Parents, was, path, before, child)
	if err != nil {
		return nil, err
	}
	if equal, err = r.Source.AcceptSince(ctx, equal, parents[side].ID, contained(r, n), was, path, before, child); err != nil {
		return nil, err
	}
	tips := n.Parents
	if tips == nil {
		tips = []string{parents[side].ID, n.ID}
	}
	if equal, err = r.Source.CompleteApprovals(ctx, equal, tips, path, before, child, len(n.Parents) != 1); err != nil {
		return nil, err
	}
	elsewhere := read.ParentDigests(parents, side)
	with := ledger.CompareOptions{
		Equal:      equal,
		OldRecords: r.Source.ReaderOf(was).RecordsAfterRotation(ctx, before), NewRecords: r.Source.ReaderOf(was).Records(ctx, child.File),
		MayPair: func(old, now *ledger.Entry) bool {
			// What another parent brought is that side's entry, not a new
			// version of this side's, unless it plainly is.
			if !elsewhere[now.Digest] {
				return true
			}
			_, seen := r.Collector.Reported.Of(finding.EditKey{Path: path, From: old.Digest.String(), To: now.Digest.String()})
			return seen || old.Timestamp != "" && old.Timestamp == now.Timestamp
		},
	}
	var open ledger.OpenEntries
	if child.Readable() && child.Log.Open > 0 && !c.Extends(p) {
		if open, err = r.Source.ReaderOf(path).OpenEntries(ctx, child); err != nil {
			return nil, err
		}
		with.Equal = with.Equal.DropReopened(open.Entries)
	}
	compared, err := ledger.Compare(p, c, with)
	if err == nil {
		err = compared.MarkReopened(open)
	}
	if err != nil {
		return nil, err
	}
	change := func(x *ledger.Comparison) *LogChange {
		e := &LogChange{Path: path, OldPath: was, Comparison: x, before: before.File, after: child.File}
		if r.Source.Policy.LogFor(path).Free() {
			e.dropOrder()
		}
		if had, is := before.LenBeforeRotation(); is {
			e.dropBetween(had)
		}
		return e
	}
	e := change(compared)
	if compared.Approved != nil {
		with.Equal.Rewrites = nil
		compared, err = ledger.Compare(p, c, with)
		if err != nil {
			return nil, err
		}
		e.allowed = change(compared)
	}
	return e, nil
}

// judgeEdge judges one edge of a log. Only a family's rules judge the logs that it reads.
func judgeEdge(ctx context.Context, r *run.Run, e *LogChange, child string) error {
	e.Run, e.Commit, e.Fix = r, child, cmp.Or(e.Fix, r.Scope.Fix)
	if e.allowed != nil {
		if err := judgeAllowed(ctx, r, e); err != nil {
			return err
		}
	}
	if e.ofFamily() {
		return r.Collector.Judge(ctx, FamilyChange{e})
	}
	if change, err := recordChange(ctx, e); change != nil || err != nil {
		return cmp.Or(err, r.Collector.Judge(ctx, change))
	}
	return r.Collector.Judge(ctx, e)
}

// unreadable reports a child without a ledger to compare: a file that cannot be read, or a log that is gone and
// has not moved.
func unreadable(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) error {
	if child != nil {
		return r.Collector.Judge(ctx, &UnreadableLog{
			Place: rule.Place{Commit: s.ID, Parent: parents[0].ID, Branch: s.Branch, Mandatory: true},
			Run:   r, Path: path, Object: child.File.Object, Readable: len(parents[0].Ledgers) > 0 && !parents[0].NoLog, Problems: child.Problems,
		})
	}
	for i, p := range parents {
		if _, moved := s.Moves[i][path]; moved {
			continue // it is judged where it is now
		}
		if s.Rotated(i, path) {
			continue
		}
		for _, before := range p.Ledgers {
			if accepted, err := acceptedGone(ctx, r, s.Commit, p.ID, path, before); err != nil || accepted {
				if err != nil {
					return err
				}
				continue
			}
			e, err := migratedOrGone(ctx, r, s, path, before, parents, i)
			if err != nil {
				return err
			}
			if s.Fix != nil {
				e.Fix = s.Fix(path)
			}
			e.SetParent(s.Commit, i)
			e.Branch = s.Branch
			if err := judgeEdge(ctx, r, e, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// migratedOrGone compares a log that is gone with the import that takes its place, or with nothing.
func migratedOrGone(ctx context.Context, r *run.Run, s *read.Step, path string, before *read.LedgerFile, parents []read.ParentLog, side int) (*LogChange, error) {
	imported, err := r.Source.Imported(ctx, s.Changes[side], path, before)
	if err != nil || imported == nil {
		return &LogChange{Path: path, Comparison: gone(ctx, r, path, before)}, err
	}
	return compareLogs(ctx, r, s.Commit, imported.File.Path, path, before, imported, parents, side)
}

// gone is the comparison of a log with nothing. In a folder whose files must not change, the entry is gone and not the log.
func gone(ctx context.Context, r *run.Run, path string, before *read.LedgerFile) *ledger.Comparison {
	c := &ledger.Comparison{Old: before.Log.Ledger, ReconcileEntry: -1}
	if r.Source.IsFileEntry(path) {
		c.New, c.Relation, c.OldRecords = ledger.NewLedger(nil), ledger.Rewritten, r.Source.ReaderOf(path).Records(ctx, before.File)
		for i := range c.Old.Entries { // a file that is open has no entry
			c.Edits = append(c.Edits, ledger.Edit{Kind: ledger.EditDeleted, OldIndex: i, NewIndex: -1})
		}
	}
	return c
}
