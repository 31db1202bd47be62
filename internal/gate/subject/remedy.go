package subject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Situation says what has to be undone (a commit, the index or the work tree) and who has it already: that decides how to undo it.
type Situation struct {
	// Commit is the commit to undo, or Index or WorkTree; empty if it is not known. Standing says who has it.
	Commit   string
	Standing history.Standing
	// Remote says where commits are pushed. It is set only for a commit.
	Remote func() history.Remote
	// Reverting is true for the index while a revert is under way.
	Reverting bool
	// Against is the commit with which the work tree is compared, if that is not HEAD.
	Against string
}

// Resolve is the fix for a conflict in the workspace in dir. A revert takes back code only: the log keeps what was recorded.
func (s Situation) Resolve(dir string) string {
	first := "small-hook reconcile"
	if s.Reverting {
		first = "git restore --source=HEAD --staged --worktree -- " + wording.TopPath(small.InDir(dir, ""))
	}
	return s.Undo(small.InDir(dir, ""), []string{first})
}

// Undo is the fix that undoes what was done to the workspace of path. uncommitted are the commands for it before anything is committed. A
// commit that nobody else has is made again, with files as they were before it; all other work is kept. A commit that others have stays.
func (s Situation) Undo(path string, uncommitted []string, files ...string) string {
	switch {
	case s.Commit == "":
		return "it was committed before this change; see by which commit, and what to do: `small-hook audit`"
	case history.Uncommitted(s.Commit):
		return wording.Commands(uncommitted...)
	case s.Standing == history.Own:
		return wording.Commands(mend(path, s.Commit, files...))
	case s.Standing == history.Landed:
		return "what has landed is never rewritten; a person accepts all logs as they stand, and only what comes after is judged: " + acceptPast
	}
	return "others may have it, and what others have is not taken back by just typing a command: if nobody has built on the branch, a person makes it again without this and pushes it by force (" +
		mend(path, s.Commit, files...) + " --pushed, git push --force-with-lease --force-if-includes); else a person excuses the edit, which counts once the target branch has it (small-hook waive --help)"
}

// mend is the command that makes a commit that nobody else has again, and those after it.
func mend(path, commit string, files ...string) string {
	out := "small-hook restore" + InDirectory(path) + " --commit " + history.Short(commit)
	for _, file := range files {
		out += " " + wording.TopPath(file)
	}
	return out
}

// Return is the fix that brings back what a log has lost since its branch was at the commit left. The commits from first on were made
// instead, and are made again with what was lost; first is empty if there are none.
func Return(left, first, path string) string {
	if first == "" {
		return wording.Commands(RestoreFrom(path, history.Short(left)))
	}
	return wording.Commands(mend(path, first) + " --source " + history.Short(left))
}

// RestoreFrom is the command that brings back what a log has lost since a revision.
func RestoreFrom(path, revision string) string {
	return "small-hook restore" + InDirectory(path) + " --source " + wording.ShellWord(revision)
}

// acceptPast are the commands that accept every log as it stands in HEAD.
var acceptPast = wording.Commands("small-hook baseline", "git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`)

// Undo is the fix that undoes what was done to the log and keeps all other work.
func (e *LogChange) Undo() string {
	s := e.Situation
	switch {
	case e.Fix != "":
		return e.Fix
	case e.Merge && history.Uncommitted(s().Commit):
		return reconcile
	case s().Standing == history.Landed:
		return e.putBack() + "; to excuse this edit alone, see small-hook waive --help"
	case e.Merge || s().Standing != history.Own:
		return e.putBack()
	}
	return e.putBack() + "; " + e.instead()
}

// UndoAndBeginRun is the fix for entries after the end of their run: it undoes them and begins a new run.
func (e *LogChange) UndoAndBeginRun() string {
	s := e.Situation()
	if e.Fix != "" || e.Merge || s.Standing != history.Own {
		return e.Undo()
	}
	dir, _, _ := small.SplitPath(e.Path)
	return newIntent(dir) + e.putBack() + ", " + thenCommit(s.Commit, "Begin a new run", writeID(dir), small.InDir(dir, ""))
}

// instead says what to do instead of the change that is undone.
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

// RecordAgain is the fix that records the new entries again, each later than the one before it.
func (e *LogChange) RecordAgain() string {
	if e.Fix != "" {
		return e.Fix
	}
	return e.putBack()
}

// WithoutCredential is the fix for a credential in a new entry. It depends on who has the entry already.
func (e *LogChange) WithoutCredential(f finding.Finding) string {
	switch s := e.Situation; {
	case e.Fix != "":
		return e.Fix
	case s().Standing != history.Own:
		return "revoke it where it was issued, before anything else: " + s().excuse(f.Fingerprint()[:12])
	}
	return "this masks it, and keeps the rest of the entry: " + e.putBack()
}

// excuse is the fix by which a person accepts an entry whose credential is revoked, on the branch whose configuration counts.
func (s Situation) excuse(fingerprint string) string {
	remote, why := s.Remote(), "it was pushed, and what was pushed stays"
	switch {
	case remote.None:
		why = "the log keeps what it has"
	case s.Standing == history.Tagged:
		why = "a tag has it, and what was pushed stays"
	}
	commit := []string{"git add -- :/.small-gate.yml", `git commit -m "Excuse a revoked credential" -- :/.small-gate.yml`}
	if !remote.None {
		commit = append(commit, "git push")
	}
	if s.Standing != history.Landed && remote.Target != "" {
		commit = slices.Concat([]string{"git switch " + wording.ShellWord(remote.Target)}, commit, []string{"git switch -"})
	}
	return why + "; a person then excuses the entry, which counts once the target branch has it: " +
		wording.Commands("small-hook waive "+fingerprint+" --reason 'the credential is revoked'", strings.Join(commit, " && "))
}

// putBack is the fix that brings the log's old entries back and keeps new ones after them.
func (e *LogChange) putBack() string {
	s, at := e.Situation(), wording.TopPath(e.Path)
	from, source := "HEAD", ""
	if !history.Uncommitted(s.Commit) {
		from = history.Short(s.Commit) + "^"
	}
	switch {
	case s.Against != "":
		return wording.Commands(RestoreFrom(e.Path, history.Short(s.Against)))
	case e.ParentHasNoLog:
		source = fmt.Sprintf(`"$(git rev-list -n 1 %s -- %s)^"`, from, at) // the last commit that touched the log removed it
	}
	switch {
	case e.Switches:
		return s.Undo(e.Path, []string{"git restore --source=" + cmp.Or(source, "HEAD") + " --staged --worktree -- " + at}, e.Path)
	case source == "":
		return s.Undo(e.Path, []string{"small-hook restore" + InDirectory(e.Path)})
	case s.Standing != history.Own:
		return s.Undo(e.Path, nil)
	case from == "HEAD":
		return wording.Commands("small-hook restore" + InDirectory(e.Path) + " --source " + source)
	}
	return wording.Commands(mend(e.Path, s.Commit) + " --source " + source)
}

// InDirectory is the flag that names the workspace of a path, whatever directory it is typed in; empty for the workspace at the root.
func InDirectory(path string) string {
	if dir, _ := small.WorkspaceOf(path); dir != "" {
		return " -C " + wording.TopPath(dir)
	}
	return ""
}

// reconcile are the commands that finish a merge and keep every entry of both sides.
const reconcile = "`small-hook reconcile`, `git commit --no-edit`"

// MergeWith is the fix that merges a branch and keeps every entry of both sides.
func MergeWith(revision string) string {
	return wording.Commands("git merge --no-ff --no-commit "+wording.ShellWord(revision)) + ", " + reconcile
}
