package walk

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// CompareNeighbours compares the logs that the index changes with those of neighbours, and warns if both have recorded
// work on the same task in the same run: the sooner two writers learn of each other, the less there is to reconcile.
func CompareNeighbours(ctx context.Context, r *run.Run) error {
	parents := r.Scope.Parents
	if len(parents) == 0 || len(r.Scope.Workspaces) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, id := range parents {
		seen[id] = true
	}
	for _, n := range r.Scope.Neighbours {
		if seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		if err := (walker{r}).compareNeighbour(ctx, parents[0], n); err != nil {
			return err
		}
	}
	return nil
}

func (r walker) compareNeighbour(ctx context.Context, head string, n subject.Neighbour) error {
	edge := history.Edge{Parent: n.ID, Child: history.Index}
	changes, err := r.Source.Changes(ctx, []history.Edge{edge})
	if err != nil {
		return err
	}
	for _, c := range changes[0] {
		dir, _, _ := small.SplitPath(c.Path)
		if !read.IsLedger(c.Path) || !r.Scope.Workspaces[dir] || !r.Source.Judges(c.Path) {
			continue
		}
		theirs, err := r.Source.Ledgers.Read(ctx, c.Old, nil)
		if err != nil {
			return err
		}
		ours, err := r.Source.Ledgers.Read(ctx, c.New, theirs)
		if err != nil {
			return err
		}
		if !ours.Readable() || !theirs.Readable() {
			continue
		}
		if err := r.neighbourLog(ctx, head, n, dir, &subject.LogTips{Path: c.Path, Divergence: ledger.Diverge(theirs.Log.Ledger, ours.Log.Ledger, r.Source.Waived(c.Path), r.Collector.EditedEntries(c.Path, false))}); err != nil {
			return err
		}
	}
	return nil
}

func (r walker) neighbourLog(ctx context.Context, head string, n subject.Neighbour, dir string, t *subject.LogTips) error {
	if t.Outcome != ledger.Diverged {
		return nil
	}
	forked, err := r.atFork(ctx, head, n.ID, dir)
	if err != nil {
		return err
	}
	theirs, err := r.Source.WorkspaceAt(ctx, n.ID, dir)
	if err != nil {
		return err
	}
	ours, err := r.Source.WorkspaceAt(ctx, history.Index, dir)
	if err != nil {
		return err
	}
	runs, tasks := subject.RunsOf(ours, t.HeadOnly), map[string]bool{}
	for _, e := range t.HeadOnly {
		tasks[e.TaskID] = !strings.HasPrefix(e.TaskID, ledger.MetaPrefix)
	}
	there := slices.DeleteFunc(slices.Clone(t.TargetOnly), func(e ledger.Entry) bool {
		return forked[e.Digest] || !tasks[e.TaskID] || !runs[subject.RunOf(theirs, e)]
	})
	if len(there) == 0 {
		return nil
	}
	t.Place = rule.Place{Commit: history.Index, Parent: n.ID}
	r.Collector.WarnOnly = true
	r.Collector.Judge(&subject.NeighbourLog{LogTips: t, Neighbour: n, Theirs: there})
	r.Collector.WarnOnly = false
	return nil
}

// atFork are the entries that a workspace's log had where two commits parted. One of them that is gone here was
// rewritten here, which the edge reports: it does not mean that somebody else is at work.
func (r walker) atFork(ctx context.Context, head, other, dir string) (map[small.Digest]bool, error) {
	bases, err := r.Source.History.MergeBases(ctx, head, other)
	if hidden := new(failure.Error); errors.As(err, &hidden) {
		return nil, nil // in a shallow clone, say; then the warning names all that is not here
	}
	if err != nil {
		return nil, err
	}
	entries := map[small.Digest]bool{}
	for _, base := range bases {
		w, err := r.Source.WorkspaceAt(ctx, base, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range w.Ledger().Entries {
			entries[e.Digest] = true
		}
	}
	return entries, nil
}
