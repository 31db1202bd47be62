package gate

import (
	"fmt"
	"strings"
)

// Remedies say how to undo what was done to a log. Each situation has its own.
type Remedies interface {
	// PutBack undoes the change of an entry.
	PutBack() string
	// BringBack undoes the loss of an entry, or of the log.
	BringBack() string
	// MoveToEnd undoes that an entry was put before older ones.
	MoveToEnd() string
	// Reconcile makes the order explicit that a merge gave to the entries of its
	// sides.
	Reconcile() string
}

// sameRemedy is the one for all that is wrong with a log: where no commit is to be
// made anew, but a branch as a whole.
type sameRemedy string

func (s sameRemedy) PutBack() string   { return string(s) }
func (s sameRemedy) BringBack() string { return string(s) }
func (s sameRemedy) MoveToEnd() string { return string(s) }
func (s sameRemedy) Reconcile() string { return string(s) }

// onEdge are the remedies for what the index, a commit or a merge did.
type onEdge struct{ *LogEdge }

// MoveToEnd says where an entry that was put in belongs.
func (onEdge) MoveToEnd() string { return "move it to the end of the log, with the time of recording" }

// PutBack says how to undo an edit of an earlier entry: in the index by
// editing, in history by taking the commit back or excusing it. What a merge
// makes is made anew of its sides.
func (s onEdge) PutBack() string {
	e := s.LogEdge
	if e.gone {
		return e.continueLog()
	}
	if e.merge {
		side := "where it says that a side changed the entry, put it back on that side, and append a new entry with the correction"
		if e.Commit == Index {
			return fmt.Sprintf("take both sides again (git checkout --merge -- %s), then %s; %s (git merge --abort)", shellQuote(e.path), reconcileHint, side)
		}
		return e.mergeAgain() + reconcileHint + "; " + side
	}
	if e.Commit == Index {
		return fmt.Sprintf("put the entry back as it was (git diff --cached -- %s shows the change) and append a new entry with the correction; if it is HEAD that is wrong, take that commit back (git reset --soft HEAD~1)", shellQuote(e.path))
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s) and append a new entry with the correction", short(e.Commit), short(e.Parent))
}

// BringBack says how to bring lost entries back; for a revert that means to
// undo the code and keep the log.
func (s onEdge) BringBack() string {
	e := s.LogEdge
	if e.gone {
		return e.continueLog()
	}
	path := shellQuote(e.path)
	if e.Commit == Index {
		return fmt.Sprintf("bring the log back with `git restore --source=HEAD --staged --worktree -- %s`, append a new entry, and commit; after `git revert --no-commit COMMIT` that reverts the code and keeps the log", path)
	}
	if e.merge {
		return fmt.Sprintf("%skeep the log (`git restore --source=HEAD --staged --worktree -- %s`, or small-hook reconcile where both sides recorded work), then git commit", e.mergeAgain(), path)
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s); if it is a revert, redo it as `git revert --no-commit COMMIT`, `git restore --source=HEAD --staged --worktree -- %s`, append an entry that says what was reverted, and commit",
		short(e.Commit), short(e.Parent), path)
}

// continueLog is the way out where a log comes to a path at which another stood.
func (e *LogEdge) continueLog() string {
	rule := "append-only/log-deleted"
	if e.switches {
		rule = "workflow/history-rewritten"
	}
	return fmt.Sprintf("another log stood here (`git log -p --full-history -- %s` shows it): continue it, or begin the new log in another directory; "+
		"to end the old log here, a person waives %s from %s", shellQuote(e.path), rule, e.old.Head())
}

// reconcileHint is the way out of two writers' entries in one log.
const reconcileHint = "small-hook reconcile (it keeps every entry of both sides, in order of time, and appends one for meta/reconcile-merge that names both), then git commit"

// Reconcile says how to make a merge explicit: one that is not committed
// yet, or one that has to be done again.
func (s onEdge) Reconcile() string {
	e := s.LogEdge
	if e.Commit == Index {
		return reconcileHint
	}
	return e.mergeAgain() + reconcileHint
}

// mergeAgain says how to take a committed merge back to its first parent, so
// that the branch's own work stays, and how to begin it again. What comes next
// goes on from it.
func (e *LogEdge) mergeAgain() string {
	var again []string
	for _, id := range e.parents[1:] {
		again = append(again, "git merge "+short(id))
	}
	next := "; then "
	if len(again) > 1 {
		next = ", one by one; after each "
	}
	return fmt.Sprintf("take merge %s back (git reset --keep %s, where nothing was committed since) and merge again (%s)%s",
		short(e.Commit), short(e.parents[0]), strings.Join(again, "; "), next)
}
