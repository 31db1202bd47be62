package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// PutBack is the fix that brings back a file of the workspace as it was before the index, or the last commit that touched it, changed it.
func (w *Workspace) PutBack(path string) string {
	at := wording.TopPath(path)
	if w.Commit == "" || history.Uncommitted(w.Commit) {
		return wording.Commands("git restore --source=HEAD --staged --worktree -- " + at)
	}
	return wording.Commands(fmt.Sprintf(`git restore --source="$(git rev-list -n 1 HEAD -- %[1]s)^" --staged --worktree -- %[1]s`, at),
		"git commit -m "+wording.ShellQuote("Put back "+path))
}

// RecordAgain is the fix that records an entry again, later than the one before it, together with everything that was recorded with it.
func (w *Workspace) RecordAgain(entry int) string {
	log := w.Path(small.Progress)
	return w.situationOf(entry).Undo(log, []string{"small-hook restore" + InDirectory(log)})
}

func (w *Workspace) situationOf(entry int) Situation {
	var digest small.Digest
	if log := w.Ledger(); entry < log.Len() {
		digest = log.Entries[entry].Digest
	}
	return w.Situation(digest)
}

// Correct is the fix for something wrong in an artifact; subject names it, and how is the correction. A committed entry is not edited:
// others' entries are accepted as they are. Only in a commit that nobody else has can it be corrected.
func (w *Workspace) Correct(a small.Artifact, subject, how string) string {
	i, isEntry := EntryIndex(subject)
	if a != small.Progress || !isEntry {
		return how
	}
	s := w.situationOf(i)
	switch uncommitted := history.Uncommitted(s.Commit); {
	case uncommitted && w.Settled < 0:
		return how + "; if others have the entry, it is never edited: a person accepts the log as it stands (small-hook baseline)"
	case uncommitted && i < w.Settled:
		s = Situation{}
	}
	return s.correct(how, w.Path(small.Progress))
}

// Correct is the fix for a new entry; how is the correction.
func (e *LogChange) Correct(how string) string {
	if e.Fix != "" {
		return how
	}
	return e.Situation().correct(how, e.Path)
}

func (s Situation) correct(how, path string) string {
	switch {
	case history.Uncommitted(s.Commit):
		return how
	case s.Commit != "" && s.Standing == history.Own:
		return how + ", in the commit that brought the entry, which nobody else has: " + history.Short(s.Commit)
	case s.Commit != "":
		return "a committed entry is never edited; a person accepts the log as it stands, and pushes that before any new work: " + acceptPast + ", `git push`"
	}
	return s.Undo(path, nil)
}
