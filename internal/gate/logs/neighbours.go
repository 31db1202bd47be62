package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Neighbour is a branch on which somebody else may be at work.
type Neighbour struct {
	history.Tip
	// Worktree is the path of the work tree that has the branch checked out; empty for the upstream branch.
	Worktree string
	// Fronts holds what is known about the logs of the branch's tip, by path. A comparison adds to them.
	Fronts map[string]Front
}

// Front says how a neighbour's log differed from the index's when both were last read. It is right as long as the index's log begins with the
// common entries.
type Front struct {
	// Len is the number of entries with which both begin, and Head is the ledger head of these.
	Len  int          `json:"len"`
	Head small.Digest `json:"head"`
	// Entries are the neighbour's entries after the common ones, without the fields that only rules about an entry need.
	Entries []ledger.Entry `json:"entries"`
	// NoneAtFork is true once it is known that the log had none of Entries at the merge bases.
	NoneAtFork bool `json:"own"`
}

// maxFrontEntries is the largest number of entries in a saved front: to read more from a file takes as long as to read the log.
const maxFrontEntries = 256

// FrontOf compares a neighbour's log with ours.
func FrontOf(theirs, ours *ledger.Ledger) Front {
	n := ledger.Common(theirs, ours)
	f := Front{Len: n, Head: ours.HeadAt(n), Entries: slices.Clone(theirs.Entries[n:])}
	for i := range f.Entries {
		f.Entries[i].Suspects, f.Entries[i].Credentials = nil, nil
	}
	return f
}

// SmallEnough reports whether the front is small enough to save it.
func (f Front) SmallEnough() bool { return len(f.Entries) <= maxFrontEntries }

// HoldsFor reports whether a log still begins with the common entries.
func (f Front) HoldsFor(ours *ledger.Ledger) bool {
	return ours.Len() >= f.Len && ours.HeadAt(f.Len) == f.Head
}

// TheirLedger returns the neighbour's ledger. The front must hold for ours.
func (f Front) TheirLedger(ours *ledger.Ledger) *ledger.Ledger {
	return ledger.OfEntries(slices.Concat(ours.Entries[:f.Len], f.Entries))
}

// SharesTask reports whether one of our entries after the common ones is on the task of one of theirs.
func (f Front) SharesTask(ours *ledger.Ledger) bool {
	tasks := tasksWorkedOn(ours.Entries[f.Len:])
	return slices.ContainsFunc(f.Entries, func(e ledger.Entry) bool { return tasks[e.TaskID] })
}

// tasksWorkedOn returns the tasks of some entries, without the protocol's own (meta/...).
func tasksWorkedOn(entries []ledger.Entry) map[string]bool {
	tasks := map[string]bool{}
	for _, e := range entries {
		if !strings.HasPrefix(e.TaskID, ledger.MetaPrefix) {
			tasks[e.TaskID] = true
		}
	}
	return tasks
}

// Describe names the neighbour in a message.
func (n Neighbour) Describe() string {
	if n.Worktree == "" {
		return "the upstream branch " + n.Name
	}
	if n.Name == "" {
		return "the work tree " + n.Worktree
	}
	return fmt.Sprintf("branch %s, checked out in %s,", n.Name, n.Worktree)
}

// NeighbourLog is a log to which both the index and a neighbour have added entries in the same run, on the same task. Theirs are these entries of
// the neighbour.
type NeighbourLog struct {
	*LogTips
	Neighbour Neighbour
	Theirs    []ledger.Entry
}

// runOf returns the run of an entry: the one that it names, or else its workspace's.
func runOf(w *read.Workspace, e ledger.Entry) string {
	if e.ReplayID != "" {
		return e.ReplayID
	}
	run, _ := read.CurrentRun(w)
	return run
}

// runsOf returns the run of a workspace and those of some of its entries.
func runsOf(w *read.Workspace, entries []ledger.Entry) map[string]bool {
	run, _ := read.CurrentRun(w)
	runs := map[string]bool{run: true}
	for _, e := range entries {
		runs[runOf(w, e)] = true
	}
	return runs
}

// CompareNeighbours compares the logs that the index changes with those of neighbours. It warns if both have recorded work on the same task in
// the same run: the sooner two writers learn of each other, the less there is to reconcile.
func CompareNeighbours(neighbours []Neighbour) run.Pass {
	return func(ctx context.Context, r *run.Run) error {
		if len(r.Scope.Parents) == 0 || len(neighbours) == 0 {
			return nil
		}
		return compareIndexLogs(ctx, r, r.Scope.Parents, neighbours)
	}
}

// compareIndexLogs compares each log that differs between the index and HEAD, the first of parents, with those of neighbours.
func compareIndexLogs(ctx context.Context, r *run.Run, parents []string, neighbours []Neighbour) error {
	c := neighbourComparer{run: r, head: parents[0]}
	seen := map[string]bool{}
	for _, id := range parents {
		seen[id] = true
	}
	for _, n := range neighbours {
		if !seen[n.ID] {
			seen[n.ID] = true
			if n.Fronts == nil {
				n.Fronts = map[string]Front{}
			}
			c.neighbours = append(c.neighbours, n)
		}
	}
	changes, err := r.Source.Changes(ctx, history.EdgesOf(history.Index, parents))
	if err != nil {
		return err
	}
	for _, change := range changes[0] {
		if !read.IsProgress(change.Path) || !r.Source.Judges(change.Path) {
			continue
		}
		ours, err := r.Source.ProgressReader.Read(ctx, change.New, nil)
		if err != nil {
			return err
		}
		if ours.Readable() {
			if err := c.compareLog(ctx, change, ours); err != nil {
				return err
			}
		}
	}
	return nil
}

// neighbourComparer compares logs in the index with those of neighbours.
type neighbourComparer struct {
	run        *run.Run
	head       string
	neighbours []Neighbour
}

// compareLog compares one log with those of the neighbours.
func (c neighbourComparer) compareLog(ctx context.Context, own history.Change, ours *read.LedgerFile) error {
	if err := c.readFronts(ctx, own, ours); err != nil {
		return err
	}
	for _, n := range c.neighbours {
		front, known := n.Fronts[own.Path]
		if !known || !front.SharesTask(ours.Log.Ledger) {
			continue
		}
		theirs := front.TheirLedger(ours.Log.Ledger)
		tips := &LogTips{Path: own.Path, Divergence: ledger.Diverge(theirs, ours.Log.Ledger, c.run.Source.EquivalenceByWaivers(own.Path), c.run.Collector.EditedEntries(own.Path, false))}
		if tips.Outcome != ledger.Diverged {
			continue
		}
		if err := c.warnOfSharedTasks(ctx, n, front, ours, tips); err != nil {
			return err
		}
	}
	return nil
}

// readFronts compares the log at the path of own again for each neighbour of which no front is known, or whose front no longer holds for ours.
func (c neighbourComparer) readFronts(ctx context.Context, own history.Change, ours *read.LedgerFile) error {
	var stale []Neighbour
	var edges []history.Edge
	for _, n := range c.neighbours {
		if front, known := n.Fronts[own.Path]; !known || !front.HoldsFor(ours.Log.Ledger) {
			delete(n.Fronts, own.Path)
			stale, edges = append(stale, n), append(edges, history.Edge{Parent: n.ID, Child: c.head})
		}
	}
	changes, err := c.run.Source.Changes(ctx, edges)
	if err != nil {
		return err
	}
	for i, n := range stale {
		file := own.Old // HEAD's file, unless the neighbour has another
		if change, differs := history.ChangeAt(changes[i], own.Path); differs {
			file = change.Old
		}
		theirs, err := c.run.Source.ProgressReader.Read(ctx, file, ours)
		if err != nil {
			return err
		}
		if theirs.Readable() {
			n.Fronts[own.Path] = FrontOf(theirs.Log.Ledger, ours.Log.Ledger)
		}
	}
	return nil
}

// warnOfSharedTasks warns of a neighbour's entries that are on one of our tasks, in one of our runs.
func (c neighbourComparer) warnOfSharedTasks(ctx context.Context, n Neighbour, front Front, log *read.LedgerFile, t *LogTips) error {
	dir, _, _ := small.SplitPath(t.Path)
	ours, _, err := c.run.Source.Side(ctx, history.Index, dir, nil)
	if err != nil {
		return err
	}
	tasks, runs := tasksWorkedOn(t.HeadOnly), runsOf(ours, t.HeadOnly)
	var shared []ledger.Entry
	for _, e := range t.TargetOnly {
		if !tasks[e.TaskID] {
			continue
		}
		run := e.ReplayID
		if run == "" {
			theirs, _, err := c.run.Source.Side(ctx, n.ID, dir, log)
			if err != nil {
				return err
			}
			run = runOf(theirs, e)
		}
		if runs[run] {
			shared = append(shared, e)
		}
	}
	if len(shared) > 0 && !front.NoneAtFork {
		atFork, err := c.entriesAtFork(ctx, n.ID, dir, log)
		if err != nil {
			return err
		}
		wasAtFork := func(e ledger.Entry) bool { return atFork[e.Digest] }
		front.NoneAtFork = atFork != nil && !slices.ContainsFunc(front.Entries, wasAtFork)
		n.Fronts[t.Path] = front
		shared = slices.DeleteFunc(shared, wasAtFork)
	}
	if len(shared) == 0 {
		return nil
	}
	t.Place = rule.Place{Commit: history.Index, Parent: n.ID}
	c.run.Collector.WarnOnly = true
	defer func() { c.run.Collector.WarnOnly = false }()
	return c.run.Collector.Judge(ctx, &NeighbourLog{LogTips: t, Neighbour: n, Theirs: shared})
}

// entriesAtFork returns the entries that a workspace's log had at the merge bases of HEAD and another commit. If our log lacks such an entry, it was
// changed or removed here, which is reported on the edge; the other commit only kept it. The result is nil if a shallow clone hides the merge bases.
func (c neighbourComparer) entriesAtFork(ctx context.Context, other, dir string, log *read.LedgerFile) (map[small.Digest]bool, error) {
	bases, err := c.run.Source.History.MergeBases(ctx, c.head, other)
	if errors.Is(err, history.ErrLacking) {
		return nil, nil // the warning then also names entries that were changed or removed here
	}
	if err != nil {
		return nil, err
	}
	entries := map[small.Digest]bool{}
	for _, base := range bases {
		_, there, err := c.run.Source.Side(ctx, base, dir, log)
		if err != nil {
			return nil, err
		}
		if !there.Readable() {
			continue
		}
		for _, e := range there.Log.Entries {
			entries[e.Digest] = true
		}
	}
	return entries, nil
}
