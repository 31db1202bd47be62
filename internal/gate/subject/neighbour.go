package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
)

// Neighbour is a branch on which somebody else may be at work.
type Neighbour struct {
	history.Tip
	// Worktree is the path of the work tree that has it checked out; empty for the upstream branch.
	Worktree string
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

// NeighbourLog is a log that both the index and a neighbour have added to in the same run, on the same task. Theirs are the
// neighbour's own entries.
type NeighbourLog struct {
	*LogTips
	Neighbour Neighbour
	Theirs    []ledger.Entry
}

// RunOf is the run of an entry: the one that it names, or else its workspace's.
func RunOf(w *Workspace, e ledger.Entry) string {
	if e.ReplayID != "" {
		return e.ReplayID
	}
	run, _ := CurrentRun(w)
	return run
}

// RunsOf are the run of a workspace and those of some of its entries.
func RunsOf(w *Workspace, entries []ledger.Entry) map[string]bool {
	run, _ := CurrentRun(w)
	runs := map[string]bool{run: true}
	for _, e := range entries {
		runs[RunOf(w, e)] = true
	}
	return runs
}
