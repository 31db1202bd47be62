package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// PutBack brings back a file of the workspace as it was before the index, or the last commit that touched it, changed it.
func (w *Workspace) PutBack(path string) string {
	at := wording.TopPath(path)
	if w.Commit == "" || w.Commit == history.Index {
		return wording.Commands("git restore --source=HEAD --staged --worktree -- " + at)
	}
	return wording.Commands(fmt.Sprintf(`git restore --source="$(git rev-list -n 1 HEAD -- %[1]s)^" --staged --worktree -- %[1]s`, at),
		"git commit -m "+wording.ShellQuote("Put back "+path))
}

// RecordAgain has the entries that are new recorded again, each later than the one before it.
func (w *Workspace) RecordAgain() string {
	return w.Situation().Redo("small-hook restore" + InDirectory(w.Path(small.Progress)))
}
