package subject

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/wording"
)

// Remedies say how to undo what was done to a log in one situation.
type Remedies interface {
	// RevertChange undoes the change of an entry.
	RevertChange() string
	// RestoreLost undoes the loss of an entry, or of the log.
	RestoreLost() string
	// MoveToEnd undoes an insertion.
	MoveToEnd() string
	// Reconcile makes explicit how a merge ordered the entries of its sides.
	Reconcile() string
}

// FixedRemedy is one remedy for everything, if not a commit but a whole branch has to be redone.
type FixedRemedy string

// RevertChange is the one remedy.
func (s FixedRemedy) RevertChange() string { return string(s) }

// RestoreLost is the one remedy.
func (s FixedRemedy) RestoreLost() string { return string(s) }

// MoveToEnd is the one remedy.
func (s FixedRemedy) MoveToEnd() string { return string(s) }

// Reconcile is the one remedy.
func (s FixedRemedy) Reconcile() string { return string(s) }

// ChangeRemedies are the remedies for what the index, a commit or a merge did.
type ChangeRemedies struct{ *LogChange }

// MoveToEnd says where an entry that was put in belongs.
func (ChangeRemedies) MoveToEnd() string {
	return "move it to the end of the log, with the time of recording"
}

// RevertChange undoes an edit: in the index by editing, in history by dropping or waiving the commit. A merge is
// redone.
func (s ChangeRemedies) RevertChange() string {
	e := s.LogChange
	if e.ParentHasNoLog {
		return e.continueLog()
	}
	if e.Merge {
		const side = "put it back on that side, and append a new entry with the correction"
		if e.Commit == history.Index {
			return fmt.Sprintf("run `git checkout --merge -- %s`, then %s; if one side changed the entry, run `git merge --abort`, %s", wording.ShellWord(e.Path), ReconcileHint, side)
		}
		return e.mergeAgain() + ReconcileHint + "; if one side changed the entry, " + side
	}
	if e.Commit == history.Index {
		return fmt.Sprintf("put the entry back as it was (`git diff --cached -- %s` shows the change) and append a new entry with the correction; if HEAD is wrong, undo that commit with `git reset --soft HEAD~1`", wording.ShellWord(e.Path))
	}
	return fmt.Sprintf("drop commit %s (`git rebase -i %s`) and append a new entry with the correction", history.Short(e.Commit), history.Short(e.Parent))
}

// RestoreLost brings lost entries back; for a revert that means to revert the code and keep the log.
func (s ChangeRemedies) RestoreLost() string {
	e := s.LogChange
	if e.ParentHasNoLog {
		return e.continueLog()
	}
	path := wording.ShellWord(e.Path)
	if e.Commit == history.Index {
		return fmt.Sprintf("run `git restore --source=HEAD --staged --worktree -- %s`, append a new entry, and commit; after `git revert --no-commit COMMIT` this reverts the code and keeps the log", path)
	}
	if e.Merge {
		return fmt.Sprintf("%skeep the log (`git restore --source=HEAD --staged --worktree -- %s`, or `small-hook reconcile` if both sides recorded work), then run `git commit`", e.mergeAgain(), path)
	}
	return fmt.Sprintf("drop commit %s (`git rebase -i %s`); if it is a revert, redo it: `git revert --no-commit COMMIT`, then `git restore --source=HEAD --staged --worktree -- %s`, append an entry that says what was reverted, and commit",
		history.Short(e.Commit), history.Short(e.Parent), path)
}

// continueLog is the remedy if a log comes to a path at which another stood.
func (e *LogChange) continueLog() string {
	rule := "append-only/log-deleted"
	if e.Switches {
		rule = "workflow/history-rewritten"
	}
	return fmt.Sprintf("another log stood here (`git log -p --full-history -- %s` shows it): continue it, or start the new log in another directory; "+
		"to end the old log, a person waives %s from %s", wording.ShellWord(e.Path), rule, e.Old.Head())
}

// ReconcileHint resolves two writers' entries in one log.
const ReconcileHint = "run `small-hook reconcile` (it keeps every entry of both sides, in order of time, and appends a meta/reconcile-merge entry), then `git commit`"

// Reconcile makes a merge explicit: now, or by redoing it.
func (s ChangeRemedies) Reconcile() string {
	e := s.LogChange
	if e.Commit == history.Index {
		return ReconcileHint
	}
	return e.mergeAgain() + ReconcileHint
}

// mergeAgain says how to undo a committed merge, keeping the branch's own work, and how to begin it again. The
// next step is appended to it.
func (e *LogChange) mergeAgain() string {
	var again []string
	for _, id := range e.parents[1:] {
		again = append(again, "`git merge "+history.Short(id)+"`")
	}
	next := "; then "
	if len(again) > 1 {
		next = ", one by one; after each, "
	}
	return fmt.Sprintf("undo merge %s (`git reset --keep %s`, if nothing was committed since) and merge again (%s)%s",
		history.Short(e.Commit), history.Short(e.parents[0]), strings.Join(again, "; "), next)
}

// RebaseInstead says how to undo a merge and rebase its first parent's branch instead.
func (e *LogChange) RebaseInstead() string {
	undo := "git merge --abort"
	if e.Commit != history.Index {
		undo = "git reset --keep " + history.Short(e.parents[0])
	}
	return fmt.Sprintf("run `%s`, then `git rebase %s`", undo, history.Short(e.parents[1]))
}
