// Package logs follows logs from commit to commit, and compares them between branches. The rules of append-only, divergence and other families judge
// the changes and divergences that it finds.
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
	return judgeAll(ctx, r, []history.Commit{{ID: history.Index, Parents: r.Scope.Parents}})
}

// JudgeWorkTree judges the logs of the work tree on its edges. It judges no other files, since they may not be finished.
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

// JudgeCommits judges every edge of the listed commits.
func JudgeCommits(ctx context.Context, r *run.Run) error {
	err := judgeAll(ctx, r, r.Learned.Commits)
	r.Learned.Walked = err == nil
	return err
}

// judgeAll judges every edge of some commits, and then the branch.
func judgeAll(ctx context.Context, r *run.Run, commits []history.Commit) error {
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

// judgeCommit judges the edges of one commit; changes has one element for each edge.
func judgeCommit(ctx context.Context, r *run.Run, n history.Commit, changes [][]history.Change) error {
	r.NotePolicy(n, changes)
	own := run.NewTouched()
	own.Note(r.Source, changes...)
	r.Learned.Note(r.Source, changes...)
	for _, edge := range changes {
		r.Learned.AddsFiles = r.Learned.AddsFiles || slices.ContainsFunc(edge, func(c history.Change) bool { return c.Old.Mode == "" })
	}
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
	if err != nil || r.Options.OnlyLastingErrors { // then only errors about logs are reported
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
	if r.JudgeFilesOf != nil && n.ID != history.Index {
		return r.JudgeFilesOf(ctx, r, n.ID, own)
	}
	return nil
}

// judgeLogs judges the logs that a commit changes. It returns, by path, the entries that no parent has.
func judgeLogs(ctx context.Context, r *run.Run, s *read.Step) (added map[string][]ledger.Entry, err error) {
	added = map[string][]ledger.Entry{}
	for _, path := range history.PathsOf(s.Changes, r.Source.IsLog) {
		if r.Scope.Logs != nil && !r.Scope.Logs(path) {
			continue
		}
		step, err := StepOf(ctx, r, s, r.Source.Policy.LogFor(path), (*policy.Log).FrozenOnceMerged)
		if err != nil {
			return nil, err
		}
		if step == nil {
			err = noteDraftEdit(ctx, r, s, path)
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

// judgeLog judges one log on all edges of a commit. It returns the entries that no parent has.
func judgeLog(ctx context.Context, r *run.Run, s *read.Step, path string) ([]ledger.Entry, error) {
	if err := checkSince(ctx, r, path); err != nil {
		return nil, err
	}
	if past, err := r.IsAcceptedPast(ctx, s.ID, path); err != nil || past {
		return nil, err
	}
	child, parents, err := r.Source.ReadVersions(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if !child.Readable() {
		return nil, judgeUnreadable(ctx, r, s, path, child, parents)
	}
	edges, approved, err := compareEdges(ctx, r, s, path, child, parents)
	if err != nil {
		return nil, err
	}
	log, err := newCommitLog(ctx, r, s, path, child, parents, approved, edges)
	if err != nil {
		return nil, err
	}
	added, misplaced := read.NewEntries(child.Log.Ledger, approved)
	added = slices.DeleteFunc(added, func(index int) bool { return log.isAccepted(child.Log.Entries[index].Digest) })
	misplaced = slices.DeleteFunc(misplaced, func(index int) bool {
		d := child.Log.Entries[index].Digest
		return log.isAccepted(d) || log.IsReturned(d)
	})
	if err := judgeEdges(ctx, r, s, path, child, parents, edges, added, misplaced); err != nil {
		return nil, err
	}
	if err := r.Collector.Judge(ctx, log); err != nil {
		return nil, err
	}
	if len(edges) == 0 && len(added) > 0 { // no parent has a log to compare: the child's extends an empty one
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

// compareEdges compares one log on the edges of a commit on which it changed. approved are the parents' logs with approved rewrites applied.
func compareEdges(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) (edges []*LogChange, approved []read.ParentLog, err error) {
	approved = slices.Clone(parents)
	for i, p := range parents {
		approved[i].Ledgers = slices.Clone(p.Ledgers)
		for k, before := range p.Ledgers {
			e, err := compareLogs(ctx, r, s.Commit, path, p.Paths[k], before, child, parents, i)
			if err != nil {
				return nil, nil, err
			}
			if e != nil {
				if e.setParent(s.Commit, i); s.Fix != nil {
					e.Fix = s.Fix(path)
				}
				e.ParentHasNoLog = p.NoLog && p.Paths[k] == path
				edges = append(edges, e)
				approved[i].Ledgers[k] = e.parentAfterRewrite(before)
			}
		}
	}
	return edges, approved, setSideFix(ctx, r, s, path, parents, edges)
}

// judgeEdges judges one log on the edges on which it changed. added are the indexes of the entries that no parent has, and misplaced those of them
// that stand before an entry of a parent.
func judgeEdges(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog, edges []*LogChange, added, misplaced []int) error {
	if len(edges) > 0 {
		edges[0].NewEntries, edges[0].Misplaced = added, dropNewVersions(misplaced, edges)
		if r.Source.Policy.LogFor(path).Free() {
			edges[0].Misplaced = nil
		}
	}
	err := findBeforeTarget(ctx, r, s, path, child, parents, edges)
	for i := 0; i < len(edges) && err == nil; i++ {
		edges[i].AddsInMerge = edges[i].IsMerge && len(added) > 0
		err = judgeEdge(ctx, r, edges[i], s.ID)
	}
	return err
}

// dropNewVersions drops the entries that are new versions of a parent's: those are reported as modifications, or waived.
func dropNewVersions(misplaced []int, edges []*LogChange) []int {
	versions := map[int]bool{}
	for _, e := range edges {
		for _, x := range e.Edits {
			if x.OldIndex >= 0 && x.NewIndex >= 0 {
				versions[x.NewIndex] = true
			}
		}
	}
	return slices.DeleteFunc(misplaced, func(at int) bool { return versions[at] })
}

// mayPair returns a function that reports whether an added entry of the log at a path may be a new version of a lost one. elsewhere are the entries
// of the other parents: such an entry is usually that side's own, and counts as a new version of this side's entry only if the edit was reported
// before, or the time is the same.
func mayPair(r *run.Run, path string, elsewhere map[small.Digest]bool) func(old, now *ledger.Entry) bool {
	return func(old, now *ledger.Entry) bool {
		if !elsewhere[now.Digest] || old.Timestamp != "" && old.Timestamp == now.Timestamp {
			return true
		}
		if len(r.Collector.Reported) == 0 { // as usual: no digest has to be written
			return false
		}
		_, seen := r.Collector.Reported.Of(finding.EditKey{Path: path, From: old.Digest.String(), To: now.Digest.String()})
		return seen
	}
}

// compareLogs compares one parent's log, at oldPath, with the child's; the result is nil if nothing changed. side is the parent's index.
func compareLogs(ctx context.Context, r *run.Run, n history.Commit, path, oldPath string, before, child *read.LedgerFile, parents []read.ParentLog, side int) (*LogChange, error) {
	p, c := before.Log.Ledger, child.Log.Ledger
	if p == c && oldPath == path {
		return nil, nil
	}
	equal, err := r.Source.EquivalenceOn(ctx, n.Parents, oldPath, path, before, child)
	if err != nil {
		return nil, err
	}
	if equal, err = r.Source.AcceptSince(ctx, equal, parents[side].ID, commitOrParents(r, n), oldPath, path, before, child); err != nil {
		return nil, err
	}
	tips := n.Parents
	if tips == nil {
		tips = []string{parents[side].ID, n.ID}
	}
	if equal, err = r.Source.CompleteApprovals(ctx, equal, tips, path, before, child, len(n.Parents) != 1); err != nil {
		return nil, err
	}
	equal.MayReturn = n.Parents != nil // a CommitLog is judged
	elsewhere := read.ParentDigests(parents, side)
	options := ledger.CompareOptions{
		Equal:      equal,
		OldRecords: r.Source.ReaderOf(oldPath).RecordsAfterRotation(ctx, before), NewRecords: r.Source.ReaderOf(oldPath).Records(ctx, child.File),
		MayPair: mayPair(r, path, elsewhere),
	}
	var open ledger.OpenEntries
	if child.Readable() && child.Log.Open > 0 && !c.Extends(p) {
		if open, err = r.Source.ReaderOf(path).OpenEntries(ctx, child); err != nil {
			return nil, err
		}
		options.Equal = options.Equal.DropReopened(open.Entries)
	}
	compared, err := ledger.Compare(p, c, options)
	if err == nil {
		err = compared.MarkReopened(open)
	}
	if err != nil {
		return nil, err
	}
	newChange := func(x *ledger.Comparison) *LogChange {
		e := &LogChange{Path: path, OldPath: oldPath, Comparison: x, beforeFile: before.File, afterFile: child.File}
		if r.Source.Policy.LogFor(path).Free() {
			e.ignoreOrder()
		}
		if oldLen, isArchive := before.LenBeforeRotation(); isArchive {
			e.dropInsertedAtJoin(oldLen)
		}
		return e
	}
	e := newChange(compared)
	if compared.Approved != nil {
		options.Equal.Rewrites = nil
		compared, err = ledger.Compare(p, c, options)
		if err != nil {
			return nil, err
		}
		e.withoutApproval = newChange(compared)
	}
	return e, nil
}

// judgeEdge judges one edge of a log. If a family of rules reads the log, only its rules judge it.
func judgeEdge(ctx context.Context, r *run.Run, e *LogChange, child string) error {
	e.Run, e.Commit, e.Fix = r, child, cmp.Or(e.Fix, r.Scope.Fix)
	if err := allowByFolder(ctx, e); err != nil {
		return err
	}
	if e.withoutApproval != nil {
		if err := judgeApprovedRewrite(ctx, r, e); err != nil {
			return err
		}
	}
	if e.isFamilyLog() {
		return r.Collector.Judge(ctx, FamilyChange{e})
	}
	if change, err := asRecordChange(ctx, e); change != nil || err != nil {
		return cmp.Or(err, r.Collector.Judge(ctx, change))
	}
	return r.Collector.Judge(ctx, e)
}

// judgeUnreadable reports a child without a ledger to compare: its file cannot be read, or the log is gone and has not moved.
func judgeUnreadable(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) error {
	if child != nil {
		return r.Collector.Judge(ctx, &UnreadableLog{
			Place: rule.Place{Commit: s.ID, Parent: parents[0].ID, Branch: s.Branch, Mandatory: true},
			Run:   r, Path: path, Object: child.File.Object, ReadableBefore: len(parents[0].Ledgers) > 0 && !parents[0].NoLog, Problems: child.Problems,
		})
	}
	for i, p := range parents {
		if _, moved := s.Moves[i][path]; moved {
			continue // the log is judged at its new path
		}
		if s.Rotated(i, path) {
			continue
		}
		for _, before := range p.Ledgers {
			if accepted, err := acceptsDeletion(ctx, r, s.Commit, p.ID, path, before); err != nil || accepted {
				if err != nil {
					return err
				}
				continue
			}
			e, err := compareGoneLog(ctx, r, s, path, before, parents, i)
			if err != nil {
				return err
			}
			if s.Fix != nil {
				e.Fix = s.Fix(path)
			}
			e.setParent(s.Commit, i)
			e.Branch = s.Branch
			if err := judgeEdge(ctx, r, e, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareGoneLog compares a log that is gone with the import that takes its place or, if there is none, with nothing.
func compareGoneLog(ctx context.Context, r *run.Run, s *read.Step, path string, before *read.LedgerFile, parents []read.ParentLog, side int) (*LogChange, error) {
	imported, err := r.Source.FindImportedLog(ctx, s.Changes[side], path, before)
	if err != nil || imported == nil {
		return &LogChange{Path: path, Comparison: compareWithNothing(ctx, r, path, before), beforeFile: before.File}, err
	}
	return compareLogs(ctx, r, s.Commit, imported.File.Path, path, before, imported, parents, side)
}

// compareWithNothing returns the comparison of a log that is gone. In a folder whose files must not change, the entry is gone, and not the log.
func compareWithNothing(ctx context.Context, r *run.Run, path string, before *read.LedgerFile) *ledger.Comparison {
	c := &ledger.Comparison{Old: before.Log.Ledger, ReconcileEntry: -1}
	if r.Source.IsFileEntry(path) {
		c.New, c.Relation, c.OldRecords = ledger.NewLedger(nil), ledger.Rewritten, r.Source.ReaderOf(path).Records(ctx, before.File)
		for i := range c.Old.Entries { // a file that is open has no entry
			c.Edits = append(c.Edits, ledger.Edit{Kind: ledger.EditDeleted, OldIndex: i, NewIndex: -1})
		}
	}
	return c
}
