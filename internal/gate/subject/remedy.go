package subject

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Situation is where a commit stands, or the index: it decides how what was done there is undone.
type Situation struct {
	// Commit is the one to undo, Index or WorkTree, and Standing how far it has got.
	Commit   string
	Standing history.Standing
	// Tip is the commit that is judged, and Base the last one before Commit on its first-parent line.
	Tip, Base string
	// Remote says where commits are pushed to. It is set for a commit only.
	Remote func() history.Remote
	// OnLine is true if Commit is on that line itself.
	OnLine bool
	// Reverting is true of the index if its commit ends a revert.
	Reverting bool
	// Against is the commit with which the work tree is compared, if that is not HEAD.
	Against string
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
	case s.Commit == history.WorkTree:
		return wording.Commands(steps...)
	case s.Commit == history.Index:
		return wording.Commands(steps...) + ", then commit again"
	case s.Standing == history.Landed:
		return "what has landed is never rewritten; a person accepts all logs as they stand, and only what comes after is judged: " + acceptPast
	}
	if s.Base == "" {
		return "the first commit has to be made again: " + wording.Commands("git update-ref -d HEAD") + ", correct the files, then commit again"
	}
	all := append([]string{s.takeBack()}, steps...)
	all = append(all, commitAs(history.Short(s.Tip)))
	return wording.Commands(s.published(all)...) + "; all work since then is kept, as one commit"
}

// Return brings back what a log has lost since a branch was at a commit, left. Its head is on another line now, which begins after fork: it
// is made again, as one commit. Without a fork, its whole history is another.
func Return(left, fork, head, path string) string {
	switch fork {
	case "":
		again := []string{"git reset --soft " + history.Short(left), "small-hook restore" + InDirectory(path)}
		if head != "" {
			again = append(again, commitAs(history.Short(head)))
		}
		return wording.Commands(again...)
	case head:
		return wording.Commands(RestoreFrom(path, history.Short(left)))
	}
	s := Situation{Commit: head, Tip: head, Base: fork, OnLine: true}
	return s.Redo(RestoreFrom(path, history.Short(left)))
}

// RestoreFrom is the command that brings back what a log has lost since a revision.
func RestoreFrom(path, revision string) string {
	return "small-hook restore" + InDirectory(path) + " --source " + wording.ShellWord(revision)
}

// commitAs commits what is staged, if anything is, with the message of a commit.
func commitAs(commit string) string { return "git diff --cached --quiet || git commit -C " + commit }

// takeBack takes back all commits from the one to undo on, and leaves what they changed in the index. Where they are not the last ones
// of what is checked out, it would stage the opposite of what others have done: it does nothing there.
func (s Situation) takeBack() string {
	base := history.Short(s.Base)
	return "git merge-base --is-ancestor " + base + " HEAD && git reset --soft " + base
}

// published adds the forced push that takes back what was published.
func (s Situation) published(commands []string) []string {
	if s.Standing == history.Published {
		commands = append(commands, "git push --force-with-lease --force-if-includes")
	}
	return commands
}

// acceptPast are the commands that accept every log as it stands in HEAD.
var acceptPast = wording.Commands("small-hook baseline", "git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`)

// Undo says how to undo what was done to the log, and keep all other work.
func (e *LogChange) Undo() string {
	if e.Fix != "" {
		return e.Fix
	}
	s := e.Situation()
	switch {
	case !e.Merge && s.Standing != history.Landed:
		return s.Redo(e.putBack()) + "; " + e.instead()
	case history.Uncommitted(s.Commit):
		return reconcile
	case s.Standing == history.Landed:
		return s.Redo() + "; to excuse this edit alone, see small-hook waive --help"
	case !s.OnLine:
		return s.Redo(e.putBack())
	}
	return e.mergeAgain(s)
}

// UndoAndBeginRun undoes what was done to the log after its run was over, and begins a new run, to which the entries do not belong.
func (e *LogChange) UndoAndBeginRun() string {
	s := e.Situation()
	if e.Fix != "" || e.Merge || s.Standing == history.Landed {
		return e.Undo()
	}
	dir, _, _ := small.SplitPath(e.Path)
	return newIntent(dir) + s.Redo(e.putBack(), writeID(dir), "git add -- "+wording.TopPath(small.InDir(dir, "")))
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

// WithoutCredential says how to take the credential of a finding out of a new entry, as far as the entry has got.
func (e *LogChange) WithoutCredential(f finding.Finding) string {
	if e.Fix != "" {
		return e.Fix
	}
	s, mask := e.Situation(), "this masks it, and keeps the rest of the entry: "
	switch {
	case s.Standing != history.Own:
		return "revoke it where it was issued, before anything else: " + s.excuse(f.Fingerprint()[:12])
	case s.Base == "" && !history.Uncommitted(s.Commit): // the first commit
		tip := history.Short(s.Tip)
		return mask + wording.Commands("git merge-base --is-ancestor "+tip+" HEAD && git update-ref -d HEAD", e.putBack(), commitAs(tip))
	}
	return mask + e.RecordAgain()
}

// excuse has a person accept an entry with a credential that is revoked, on the branch whose configuration counts.
func (s Situation) excuse(fingerprint string) string {
	remote, why := s.Remote(), "it was pushed, and what was pushed stays"
	switch {
	case remote.None:
		why = "the log keeps what it has"
	case s.Standing == history.Tagged:
		why = "a tag has it, and what was pushed stays"
	}
	elsewhere := s.Standing != history.Landed && remote.Target != ""
	all := []string{"small-hook waive " + fingerprint + " --reason 'the credential is revoked'"}
	if elsewhere {
		all = append(all, "git switch "+wording.ShellWord(remote.Target))
	}
	all = append(all, "git add -- :/.small-gate.yml", `git commit -m "Excuse a revoked credential" -- :/.small-gate.yml`)
	if !remote.None {
		all = append(all, "git push")
	}
	if elsewhere {
		all = append(all, "git switch -")
	}
	return why + "; a person then excuses the entry, which counts once the target branch has it: " + wording.Commands(all...)
}

// putBack is the command that brings the log's old entries back, and keeps new ones after them.
func (e *LogChange) putBack() string {
	at, source := wording.TopPath(e.Path), "HEAD"
	if against := e.Situation().Against; against != "" {
		return RestoreFrom(e.Path, history.Short(against))
	}
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

// InDirectory is the flag that names the workspace of a path, wherever it is typed; empty for the root's workspace.
func InDirectory(path string) string {
	if dir, _ := small.WorkspaceOf(path); dir != "" {
		return " -C " + wording.TopPath(dir)
	}
	return ""
}

// reconcile ends a merge under way with every entry of both sides.
const reconcile = "`small-hook reconcile`, `git commit --no-edit`"

// mergeAgain makes a merge again, with its log reconciled, and then what came after it.
func (e *LogChange) mergeAgain(s Situation) string {
	tip := history.Short(s.Tip)
	all := []string{
		// Later work only a person can add, and what is not committed would be overwritten: then nothing is done.
		"git merge-base --is-ancestor HEAD " + tip + " && git diff --quiet HEAD && git reset --keep " + history.Short(e.parents[0]),
		"git merge --no-ff --no-commit " + history.Short(e.parents[1]),
		// Conflicts in other files were resolved once already.
		"git merge-base --is-ancestor HEAD " + history.Short(e.parents[0]) + " && git restore --source=" + tip + " --staged --worktree -- :/ ':(top,exclude,glob)**/.small/progress.small.yml'",
		"small-hook reconcile", "git commit --no-edit",
	}
	for _, id := range e.parents[2:] {
		all = append(all, "git merge -s ours --no-ff --no-commit "+history.Short(id), "small-hook reconcile", "git commit --no-edit")
	}
	if s.Tip != s.Commit {
		all = append(all, "git restore --source="+tip+" --staged --worktree -- "+wording.TopPath(e.Path), e.putBack(), commitAs(tip))
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
	if !history.Uncommitted(e.Commit) {
		undo = "git merge-base --is-ancestor HEAD " + history.Short(e.Commit) + " && git reset --keep " + history.Short(e.parents[0])
	}
	return wording.Commands(undo, "git rebase "+history.Short(e.parents[1]))
}
