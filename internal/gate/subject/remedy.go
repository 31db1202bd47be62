package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Situation is where a commit stands, or the index: it decides how what was done there is undone.
type Situation struct {
	// Commit is the one to undo, or Index, and Standing how far it has got.
	Commit   string
	Standing history.Standing
	// Tip is the commit that is judged, and Base the last one before Commit on its first-parent line.
	Tip, Base string
	// OnLine is true if Commit is on that line itself.
	OnLine bool
	// Reverting is true of the index if its commit ends a revert.
	Reverting bool
}

// Resolve resolves a conflict in the workspace of a directory. A revert takes back code, and the log keeps what was recorded.
func (s Situation) Resolve(dir string) string {
	if s.Reverting {
		return s.Redo("git restore --source=HEAD --staged --worktree -- " + wording.TopPath(small.InDir(dir, "")))
	}
	return s.Redo("small-hook reconcile")
}

// Redo undoes a commit and makes it again, with some commands in between. All other work is kept.
func (s Situation) Redo(steps ...string) string {
	switch {
	case s.Commit == history.Index:
		return wording.Commands(steps...) + ", then commit again"
	case s.Standing == history.Landed:
		return "what has landed is never rewritten. A person excuses this edit alone with small-hook waive, or accepts the logs as they stand: " + AcceptPast
	}
	if s.Base == "" {
		return "the first commit has to be made again: " + wording.Commands("git update-ref -d HEAD") + ", correct the files, then commit again"
	}
	all := append([]string{"git reset --soft " + history.Short(s.Base)}, steps...)
	all = append(all, "git commit -C "+history.Short(s.Tip))
	return wording.Commands(s.published(all)...) + "; all work since then is kept, as one commit"
}

// published adds the forced push that takes back what was published.
func (s Situation) published(commands []string) []string {
	if s.Standing == history.Published {
		commands = append(commands, "git push --force-with-lease")
	}
	return commands
}

// AcceptPast are the commands that accept every log as it stands in HEAD.
var AcceptPast = wording.Commands("small-hook baseline", "git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`)

// Undo says how to undo what was done to the log, and keep all other work.
func (e *LogChange) Undo() string {
	if e.Fix != "" {
		return e.Fix
	}
	s := e.Situation()
	switch {
	case !e.Merge:
		return s.Redo(e.putBack()) + "; " + e.instead()
	case s.Commit == history.Index:
		return reconcile
	case s.Standing == history.Landed || !s.OnLine:
		return s.Redo(e.putBack())
	}
	return e.mergeAgain(s)
}

// instead says what to do in place of what is undone.
func (e *LogChange) instead() string {
	if !e.ParentHasNoLog {
		return "a correction is a new entry"
	}
	rule := "append-only/log-deleted"
	if e.Switches {
		rule = "workflow/history-rewritten"
	}
	return "another log stood here: begin the new one in another directory, or have a person waive " + rule + " from " + e.Old.Head().String()
}

// RecordAgain has the entries that are new recorded again, each later than the one before it.
func (e *LogChange) RecordAgain() string { return e.Situation().Redo(e.putBack()) }

// putBack is the command that brings the log's old entries back, and keeps new ones after them.
func (e *LogChange) putBack() string {
	at, source := wording.TopPath(e.Path), "HEAD"
	if e.ParentHasNoLog {
		source = fmt.Sprintf(`"$(git rev-list -n 1 HEAD -- %s)^"`, at) // the last commit that touched it took it away
	}
	switch {
	case e.Switches:
		return "git restore --source=" + source + " --staged --worktree -- " + at
	case source != "HEAD":
		return "small-hook restore" + InDirectory(e.Path) + " --source " + source
	}
	return "small-hook restore" + InDirectory(e.Path)
}

// InDirectory is the flag that names the workspace of a path, from the root; empty for the root's workspace.
func InDirectory(path string) string {
	if dir, _ := small.WorkspaceOf(path); dir != "" {
		return " -C " + wording.ShellWord(dir)
	}
	return ""
}

// reconcile ends a merge under way with every entry of both sides.
const reconcile = "`small-hook reconcile`, `git commit --no-edit`"

// mergeAgain makes a merge again, with its log reconciled, and then what came after it.
func (e *LogChange) mergeAgain(s Situation) string {
	tip := history.Short(s.Tip)
	all := []string{"git reset --keep " + history.Short(e.parents[0])}
	for _, id := range e.parents[1:] {
		all = append(all, "git merge --no-ff --no-commit "+history.Short(id),
			// Conflicts in other files were resolved once already.
			"git restore --source="+tip+" --staged --worktree -- :/ ':(top,exclude,glob)**/.small/progress.small.yml'",
			"small-hook reconcile", "git commit --no-edit")
	}
	if s.Tip != s.Commit {
		all = append(all, "git restore --source="+tip+" --staged --worktree -- "+wording.TopPath(e.Path), e.putBack(), "git commit -C "+tip)
	}
	return wording.Commands(s.published(all)...)
}

// MergeWith merges a branch, with every entry of both sides.
func MergeWith(revision string) string {
	return wording.Commands("git merge --no-ff --no-commit "+wording.ShellWord(revision)) + ", " + reconcile
}

// RebaseInstead undoes a merge and rebases its first parent's branch instead.
func (e *LogChange) RebaseInstead() string {
	undo := "git merge --abort"
	if e.Commit != history.Index {
		undo = "git reset --keep " + history.Short(e.parents[0])
	}
	return wording.Commands(undo, "git rebase "+history.Short(e.parents[1]))
}
