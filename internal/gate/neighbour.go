package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// Neighbour is a branch on which somebody else may be at work.
type Neighbour struct {
	Tip
	// Worktree is the path of the work tree that has it checked out; empty for
	// the upstream branch.
	Worktree string
}

// words names the neighbour in a message.
func (n Neighbour) words() string {
	if n.Worktree == "" {
		return "the upstream branch " + n.Name
	}
	if n.Name == "" {
		return "the work tree " + n.Worktree
	}
	return fmt.Sprintf("branch %s, checked out in %s,", n.Name, n.Worktree)
}

// NeighbourLog is a log that the index changes beside a neighbour's, where both have
// recorded work in the same run. theirs are the neighbour's own entries in it.
type NeighbourLog struct {
	*LogTips
	neighbour Neighbour
	theirs    []small.Entry
}

// compareNeighbours compares the logs that the index changes with those of neighbours, and
// warns where both have recorded work in the same run: the sooner two writers
// learn of each other, the less there is to reconcile.
func compareNeighbours(r *run, ctx context.Context) error {
	parents := r.scope.parents
	if len(parents) == 0 || len(r.scope.workspaces) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, id := range parents {
		seen[id] = true
	}
	for _, n := range r.scope.neighbours {
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

func (r walker) compareNeighbour(ctx context.Context, head string, n Neighbour) error {
	edge := Edge{Parent: n.ID, Child: Index}
	changes, err := r.src.history.Changes(ctx, []Edge{edge})
	if err != nil {
		return err
	}
	for _, c := range changes[0] {
		dir, _, _ := small.SplitPath(c.Path)
		if !isLedger(c.Path) || !r.scope.workspaces[dir] || !r.src.judges(c.Path) {
			continue
		}
		theirs, err := r.src.ledgers.read(ctx, c.Old, nil)
		if err != nil {
			return err
		}
		ours, err := r.src.ledgers.read(ctx, c.New, theirs)
		if err != nil {
			return err
		}
		if !ours.readable() || !theirs.readable() {
			continue
		}
		if err := r.neighbourLog(ctx, head, n, dir, &LogTips{path: c.Path, divergence: diverge(theirs.log.Ledger, ours.log.Ledger, r.src.equal(c.Path), r.out.explained(c.Path, false))}); err != nil {
			return err
		}
	}
	return nil
}

func (r walker) neighbourLog(ctx context.Context, head string, n Neighbour, dir string, t *LogTips) error {
	if t.outcome != diverged {
		return nil
	}
	forked, err := r.atFork(ctx, head, n.ID, dir)
	if err != nil {
		return err
	}
	theirs, err := r.src.workspaceAt(ctx, n.ID, dir)
	if err != nil {
		return err
	}
	ours, err := r.src.workspaceAt(ctx, Index, dir)
	if err != nil {
		return err
	}
	runs := runsOf(ours, t.headOnly)
	there := slices.DeleteFunc(slices.Clone(t.targetOnly), func(e small.Entry) bool {
		return forked[e.Digest] || !runs[runOf(theirs, e)]
	})
	if len(there) == 0 {
		return nil
	}
	t.Place = Place{Commit: Index, Parent: n.ID}
	r.out.onlyWarns = true
	r.out.judge(&NeighbourLog{LogTips: t, neighbour: n, theirs: there})
	r.out.onlyWarns = false
	return nil
}

// atFork are the entries that a workspace's log had where two commits parted. An
// entry that is gone here and was there by then has been rewritten here, which is
// reported for the edge: nobody else is at work because of it.
func (r walker) atFork(ctx context.Context, head, other, dir string) (map[small.Digest]bool, error) {
	bases, err := r.src.history.MergeBases(ctx, head, other)
	if hidden := new(Failure); errors.As(err, &hidden) {
		return nil, nil // in a shallow clone, say; then the warning names all that is not here
	}
	if err != nil {
		return nil, err
	}
	entries := map[small.Digest]bool{}
	for _, base := range bases {
		w, err := r.src.workspaceAt(ctx, base, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range w.ledger().Entries {
			entries[e.Digest] = true
		}
	}
	return entries, nil
}

// runOf is the run that an entry was recorded in: the one that it names, or the
// one that its workspace is at.
func runOf(w *Workspace, e small.Entry) string {
	if e.ReplayID != "" {
		return e.ReplayID
	}
	run, _ := currentRun(w)
	return run
}

// runsOf are the runs that a workspace is at and that entries of it were recorded
// in.
func runsOf(w *Workspace, entries []small.Entry) map[string]bool {
	run, _ := currentRun(w)
	runs := map[string]bool{run: true}
	for _, e := range entries {
		runs[runOf(w, e)] = true
	}
	return runs
}
