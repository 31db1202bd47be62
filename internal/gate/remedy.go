package gate

import "fmt"

// putBack says how to undo an edit of an earlier entry: in the index by
// editing, in history by taking the commit back or excusing it.
func (r *reporter) putBack(e *edgeView) string {
	if r.commit == Index {
		return fmt.Sprintf("put the entry back as it was (git diff --cached -- %s shows the change) and append a new entry that says what is right now; if it is HEAD that is wrong, take that commit back (git reset --soft HEAD~1)", shellQuote(e.path))
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s) and append a new entry that says what is right now", short(r.commit), short(r.parent))
}

// bringBack says how to bring lost entries back; for a revert that means to
// undo the code and keep the log.
func (r *reporter) bringBack(e *edgeView) string {
	path := shellQuote(e.path)
	if r.commit == Index {
		return fmt.Sprintf("bring the log back with `git restore --source=HEAD --staged --worktree -- %s`, append a new entry, and commit; after `git revert --no-commit COMMIT` that reverts the code and keeps the log", path)
	}
	return fmt.Sprintf("take commit %s back (git rebase -i %s); if it is a revert, redo it as `git revert --no-commit COMMIT`, `git restore --source=HEAD --staged --worktree -- %s`, append an entry that says what was reverted, and commit",
		short(r.commit), short(r.parent), path)
}

const reconcileHint = "merge the two lists in order of time without changing either side's own order, then append an entry with task_id: \"meta/reconcile-merge\" whose evidence names both sides"
