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
	if w.Commit == "" || history.Uncommitted(w.Commit) {
		return wording.Commands("git restore --source=HEAD --staged --worktree -- " + at)
	}
	return wording.Commands(fmt.Sprintf(`git restore --source="$(git rev-list -n 1 HEAD -- %[1]s)^" --staged --worktree -- %[1]s`, at),
		"git commit -m "+wording.ShellQuote("Put back "+path))
}

// RecordAgain has the entries that are new recorded again, each later than the one before it.
func (w *Workspace) RecordAgain() string {
	return w.Situation().Redo("small-hook restore" + InDirectory(w.Path(small.Progress)))
}

// Correct says how something is corrected that a subject of an artifact names. An entry that is committed is never edited: what was
// there before is accepted as it is, and a commit of one's own is taken back.
func (w *Workspace) Correct(a small.Artifact, subject, how string) string {
	i, isEntry := EntryIndex(subject)
	if a != small.Progress || !isEntry {
		return how
	}
	s := w.Situation()
	if i < w.Settled {
		s.Standing = history.Landed
	}
	if w.Settled < 0 && s.Standing != history.Landed {
		return how + "; if the entry is committed, it is never edited: a person accepts the log as it stands (small-hook baseline)"
	}
	return s.correct(how)
}

// Correct says how a new entry is corrected.
func (e *LogChange) Correct(how string) string {
	if e.Fix != "" {
		return how
	}
	return e.Situation().correct(how)
}

func (s Situation) correct(how string) string {
	switch {
	case s.Standing == history.Landed:
		return "a committed entry is never edited; a person accepts the log as it stands, and pushes that before any new work: " + acceptPast + ", `git push`"
	case history.Uncommitted(s.Commit) || s.Base == "":
		return how
	}
	return "the entry is not published yet: " + wording.Commands(s.takeBack()) + ", then " + how + ", and commit again"
}
