package walk

import (
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/snapshots"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/gate/workflows"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// walker follows logs from commit to commit and compares them between branches.
type walker struct{ *run.Run }

// JudgeIndex judges the edges of the index.
func JudgeIndex(ctx context.Context, r *run.Run) error {
	return walker{r}.walk(ctx, []history.Commit{{ID: history.Index, Parents: r.Scope.Parents}})
}

// JudgeWorkTree judges the edges of the work tree, as far as logs are concerned: what else is written there is not finished.
func JudgeWorkTree(ctx context.Context, r *run.Run) error {
	n := history.Commit{ID: history.WorkTree, Parents: r.Scope.Parents}
	changes, err := r.Source.ChangesOf(ctx, []history.Commit{n})
	if err != nil {
		return err
	}
	for _, edge := range changes[0] {
		for _, c := range edge {
			r.Scope.Note(r.Source, c.Path)
		}
	}
	s, err := r.Source.Crossing(ctx, n, changes[0])
	if err != nil {
		return err
	}
	_, err = walker{r}.judgeLogs(ctx, s)
	return err
}

// JudgeCommits judges every edge of the commits.
func JudgeCommits(ctx context.Context, r *run.Run) error {
	err := walker{r}.walk(ctx, r.Scope.Commits)
	r.Scope.Walked = err == nil
	return err
}

// walk judges every edge of the nodes.
func (r walker) walk(ctx context.Context, commits []history.Commit) error {
	changes, err := r.Source.ChangesOf(ctx, commits)
	if err != nil {
		return err
	}
	if r.Scope.Whole {
		r.Source.NoteHistory(commits, changes)
	}
	for i, c := range commits {
		if err := r.judgeCommit(ctx, c, changes[i]); err != nil {
			return err
		}
		if r.Options.Progress != nil {
			r.Options.Progress(i+1, len(commits))
		}
	}
	return nil
}

// commit judges one commit's edges; changes has one element for each.
func (r walker) judgeCommit(ctx context.Context, n history.Commit, changes [][]history.Change) error {
	r.Scope.NotePolicy(n, changes)
	own := run.Scope{Workspaces: map[string]bool{}, Workflows: map[string]bool{}}
	for _, edge := range changes {
		for _, c := range edge {
			own.Note(r.Source, c.Path)
			r.Scope.Note(r.Source, c.Path)
		}
	}
	s, err := r.Source.Crossing(ctx, n, changes)
	if err != nil {
		return err
	}
	r.Scope.UnrelatedLog = r.Scope.UnrelatedLog || s.UnrelatedLog
	added, err := r.judgeLogs(ctx, s)
	if err != nil || r.Options.Lasting {
		return err
	}
	for _, entries := range added {
		r.Scope.NoteOrigin(n.ID, entries)
	}
	dirs, err := r.afterBaselines(ctx, n.ID, run.SortedKeys(own.Workspaces))
	if err != nil {
		return err
	}
	if err := r.judgeWork(ctx, n, changes, dirs, added); err != nil {
		return err
	}
	if r.Options.Each && n.ID != history.Index {
		if err := snapshots.At(ctx, r.Run, n.ID, run.SortedKeys(own.Workspaces)); err != nil {
			return err
		}
		return workflows.At(ctx, r.Run, n.ID, own.Workflows)
	}
	return nil
}

// afterBaselines leaves out the workspaces for whose logs a commit is the past that a baseline accepts. Only in a whole history is the
// past judged.
func (r walker) afterBaselines(ctx context.Context, commit string, dirs []string) (after []string, err error) {
	for _, dir := range dirs {
		past := false
		if r.Scope.Whole {
			if past, err = r.Source.IsBeforeBaseline(ctx, commit, small.Progress.Path(dir)); err != nil {
				return nil, err
			}
		}
		if !past {
			after = append(after, dir)
		}
	}
	return after, nil
}

// judgeLogs judges the logs that a commit changes, and returns the entries that no parent has by path.
func (r walker) judgeLogs(ctx context.Context, s *read.Step) (added map[string][]ledger.Entry, err error) {
	added = map[string][]ledger.Entry{}
	for _, path := range history.PathsOf(s.Changes, r.Source.IsLog) {
		if r.Scope.Logs != nil && !r.Scope.Logs(path) {
			continue
		}
		if added[path], err = r.judgeLog(ctx, s, path); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// judgeLog judges one log on all edges of a commit, and returns the entries that no parent has.
func (r walker) judgeLog(ctx context.Context, s *read.Step, path string) ([]ledger.Entry, error) {
	if r.Scope.Whole { // only there is what came before a baseline judged
		if past, err := r.Source.IsBeforeBaseline(ctx, s.ID, path); err != nil || past {
			return nil, err
		}
	}
	child, parents, err := r.Source.ReadVersions(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if !child.Readable() {
		r.unreadable(s, path, child, parents)
		return nil, nil
	}
	if !r.Source.IsRecord(path) {
		if err := r.judgeMerged(ctx, s, path, child, parents); err != nil {
			return nil, err
		}
	}
	added, misplaced := read.NewEntries(child.Log.Ledger, parents)
	var views []*subject.LogChange
	for i, p := range parents {
		for k, before := range p.Ledgers {
			e, err := r.compareLogs(ctx, s.Commit, path, p.Paths[k], before, child, parents, i)
			if err != nil {
				return nil, err
			}
			if e != nil {
				e.SetParent(s.Commit, i)
				e.ParentHasNoLog = p.NoLog && p.Paths[k] == path
				views = append(views, e)
				accepted := func(index int) bool { return e.Accepted[child.Log.Entries[index].Digest] }
				added, misplaced = slices.DeleteFunc(added, accepted), slices.DeleteFunc(misplaced, accepted)
			}
		}
	}
	if len(views) > 0 {
		views[0].NewEntries, views[0].Misplaced = added, withoutVersions(misplaced, views)
	}
	for _, e := range views {
		r.judgeEdge(e, s.ID)
	}
	if len(views) == 0 && len(added) > 0 {
		e := &subject.LogChange{Path: path, Comparison: &ledger.Comparison{Old: &ledger.Ledger{}, New: child.Log.Ledger, Relation: ledger.Extended, ReconcileEntry: -1}, NewEntries: added}
		if len(s.Parents) > 0 {
			e.Parent = s.Parents[0]
		}
		r.judgeEdge(e, s.ID)
	}
	return ledger.Pick(child.Log.Ledger, added), nil
}

// withoutVersions leaves out new versions of entries that a parent has: those are reported as modifications, or
// waived.
func withoutVersions(misplaced []int, views []*subject.LogChange) []int {
	versions := map[int]bool{}
	for _, e := range views {
		for _, x := range slices.Concat(e.Edits, e.Waived) {
			if x.OldIndex >= 0 && x.NewIndex >= 0 {
				versions[x.NewIndex] = true
			}
		}
	}
	return slices.DeleteFunc(misplaced, func(at int) bool { return versions[at] })
}

// compareLogs compares one parent's log, which stood at was, with the child's; nil if nothing changed.
func (r walker) compareLogs(ctx context.Context, n history.Commit, path, was string, before, child *read.LedgerFile, parents []read.ParentLog, side int) (*subject.LogChange, error) {
	p, c := before.Log.Ledger, child.Log.Ledger
	if p == c && was == path {
		return nil, nil
	}
	equal, err := r.Source.EquivalenceOn(ctx, n.Parents, was, path, before, child)
	if err != nil {
		return nil, err
	}
	elsewhere := read.HeldBy(parents, side)
	compared, err := ledger.Compare(p, c, ledger.CompareOptions{
		Equal:      equal,
		OldRecords: r.Source.Logs(path).Records(ctx, before.File), NewRecords: r.Source.Logs(path).Records(ctx, child.File),
		MayPair: func(lost, added int) bool {
			// What another parent brought is that side's entry, not a new
			// version of this side's, unless it plainly is.
			if !elsewhere[c.Entries[added].Digest] {
				return true
			}
			old, now := p.Entries[lost], c.Entries[added]
			_, seen := r.Collector.Reported.Of(finding.EditKey{Path: path, From: old.Digest.String(), To: now.Digest.String()})
			return seen || old.Timestamp != "" && old.Timestamp == now.Timestamp
		},
	})
	if err != nil {
		return nil, err
	}
	return &subject.LogChange{Path: path, OldPath: was, Comparison: compared}, nil
}

// judgeEdge judges one edge of a log, and lists what waivers excuse.
func (r walker) judgeEdge(e *subject.LogChange, child string) {
	e.Clock, e.Strict, e.Whole, e.Switches = r.Source.Now, r.Collector.Strict, r.Scope.Whole, r.Source.IsRecord(e.Path)
	e.Commit, e.Fix = child, cmp.Or(e.Fix, r.Scope.Fix)
	e.Situation = func() subject.Situation { return r.Situation(child) }
	r.Collector.Judge(e.Subject())
	if len(e.Waived) == 0 {
		return
	}
	excused, compared := *e, *e.Comparison
	compared.Edits, compared.Inserted = e.Waived, nil
	excused.Comparison, excused.NewEntries, excused.Misplaced = &compared, nil, nil
	excused.Excused = true
	r.Collector.Judge(excused.Subject())
}

// unreadable reports a child without a ledger to compare: a file that cannot be read, or a log that is gone and
// has not moved.
func (r walker) unreadable(s *read.Step, path string, child *read.LedgerFile, parents []read.ParentLog) {
	if child != nil {
		r.Collector.Judge(&subject.UnreadableLog{
			Place: rule.Place{Commit: s.ID, Parent: parents[0].ID, Branch: s.Branch, Mandatory: true},
			Path:  path, Object: child.File.Object, Readable: len(parents[0].Ledgers) > 0 && !parents[0].NoLog, Problems: child.Problems, Situation: func() subject.Situation { return r.Situation(s.ID) },
			IsJob: r.Source.Policy.JudgesJob(path), IsCampaign: r.Source.IsRecord(path) && !r.Source.Policy.JudgesJob(path),
		})
		return
	}
	for i, p := range parents {
		if _, moved := s.Moves[i][path]; moved {
			continue // it is judged where it is now
		}
		for _, before := range p.Ledgers {
			e := &subject.LogChange{Path: path, Comparison: &ledger.Comparison{Old: before.Log.Ledger, ReconcileEntry: -1}}
			if s.Fix != nil {
				e.Fix = r.fixOf(s, path)
			}
			e.SetParent(s.Commit, i)
			e.Branch = s.Branch
			r.judgeEdge(e, s.ID)
		}
	}
}
