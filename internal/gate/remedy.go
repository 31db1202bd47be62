package gate

import (
	"fmt"
	"strings"
)

// putBack says how to undo an edit of an earlier entry: in the index by
// editing, in history by taking the commit back or excusing it. What a merge
// makes is made anew of its sides.
func (r *reporter) putBack(e *edgeView) string {
	if e.gone {
		return continueLog(e)
	}
	if e.merge {
		side := "where it says that a side changed the entry, put it back on that side, and append a new entry that says what is right now"
		if r.commit == Index {
			return fmt.Sprintf("take both sides again (git checkout --merge -- %s), then %s; %s (git merge --abort)", shellQuote(e.path), reconcileHint, side)
		}
		return r.mergeAgain(e) + reconcileHint + "; " + side
	}
	if r.commit == Index {
		return fmt.Sprintf("put the entry back as it was (git diff --cached -- %s shows the change) and append a new entry that says what is right now; if it is HEAD that is wrong, take that commit back (git reset --soft HEAD~1)", shellQuote(e.path))
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s) and append a new entry that says what is right now", short(r.commit), short(r.parent))
}

// bringBack says how to bring lost entries back; for a revert that means to
// undo the code and keep the log.
func (r *reporter) bringBack(e *edgeView) string {
	if e.gone {
		return continueLog(e)
	}
	path := shellQuote(e.path)
	if r.commit == Index {
		return fmt.Sprintf("bring the log back with `git restore --source=HEAD --staged --worktree -- %s`, append a new entry, and commit; after `git revert --no-commit COMMIT` that reverts the code and keeps the log", path)
	}
	if e.merge {
		return fmt.Sprintf("%skeep the log (`git restore --source=HEAD --staged --worktree -- %s`, or small-hook reconcile where both sides recorded work), then git commit", r.mergeAgain(e), path)
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s); if it is a revert, redo it as `git revert --no-commit COMMIT`, `git restore --source=HEAD --staged --worktree -- %s`, append an entry that says what was reverted, and commit",
		short(r.commit), short(r.parent), path)
}

// continueLog is the way out where a log comes to a path at which another stood.
func continueLog(e *edgeView) string {
	rule := "append-only/log-deleted"
	if e.switches {
		rule = ruleRewrittenID
	}
	return fmt.Sprintf("another log stood here (`git log -p --full-history -- %s` shows it): continue it, or begin the new log in another directory; "+
		"to end the old log here, a person waives %s from %s", shellQuote(e.path), rule, e.p.Head())
}

// reconcileHint is the way out of two writers' entries in one log.
const reconcileHint = "small-hook reconcile (it keeps every entry of both sides, in order of time, and appends one for meta/reconcile-merge that names both), then git commit"

// reconcileAgain says how to make a merge explicit: one that is not committed
// yet, or one that has to be done again.
func (r *reporter) reconcileAgain(e *edgeView) string {
	if r.commit == Index {
		return reconcileHint
	}
	return r.mergeAgain(e) + reconcileHint
}

// mergeAgain says how to take a committed merge back to its first parent, so
// that the branch's own work stays, and how to begin it again. What comes next
// goes on from it.
func (r *reporter) mergeAgain(e *edgeView) string {
	var again []string
	for _, id := range e.parents[1:] {
		again = append(again, "git merge "+short(id))
	}
	next := "; then "
	if len(again) > 1 {
		next = ", one by one; after each "
	}
	return fmt.Sprintf("take merge %s back (git reset --keep %s, where nothing was committed since) and merge again (%s)%s",
		short(r.commit), short(e.parents[0]), strings.Join(again, "; "), next)
}
