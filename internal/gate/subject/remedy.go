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

// Situation is where a commit stands, or the index: it decides how what was done there is undone.
type Situation struct {
	// Commit is the one to undo, Index or WorkTree; empty if it is not known. Standing is how far it has got.
	Commit   string
	Standing history.Standing
	// Remote says where commits are pushed to. It is set for a commit only.
	Remote func() history.Remote
	// Reverting is true of the index if its commit ends a revert.
	Reverting bool
	// Against is the commit with which the work tree is compared, if that is not HEAD.
	Against string
}

// Resolve resolves a conflict in the workspace of a directory. A revert takes back code, and the log keeps what was recorded.
func (s Situation) Resolve(dir string) string {
	first := "small-hook reconcile"
	if s.Reverting {
		first = "git restore --source=HEAD --staged --worktree -- " + wording.TopPath(small.InDir(dir, ""))
	}
	return s.Undo(small.InDir(dir, ""), []string{first})
}

// Undo undoes what was done to a workspace, of which a path names a file: as long as nothing is committed, by some commands. A commit that
// nobody else has is made again, further files as they were before it, and all other work is kept. What others have stays as it is.
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

// mend makes a commit that nobody else has, and those after it, again.
func mend(path, commit string, files ...string) string {
	out := "small-hook restore" + InDirectory(path) + " --commit " + history.Short(commit)
	for _, file := range files {
		out += " " + wording.TopPath(file)
	}
	return out
}

// Return brings back what a log has lost since a branch was at a commit, left: what was committed instead, from first on, is made again with
// it. first is empty if there is nothing.
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

// Undo says how to undo what was done to the log, and keep all other work.
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

// UndoAndBeginRun undoes what was done to the log after its run was over, and begins a new run, to which the entries do not belong.
func (e *LogChange) UndoAndBeginRun() string {
	s := e.Situation()
	if e.Fix != "" || e.Merge || s.Standing != history.Own {
		return e.Undo()
	}
	dir, _, _ := small.SplitPath(e.Path)
	return newIntent(dir) + e.putBack() + ", " + thenCommit(s.Commit, "Begin a new run", writeID(dir), small.InDir(dir, ""))
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
func (e *LogChange) RecordAgain() string {
	if e.Fix != "" {
		return e.Fix
	}
	return e.putBack()
}

// WithoutCredential says how to take the credential of a finding out of a new entry, as far as the entry has got.
func (e *LogChange) WithoutCredential(f finding.Finding) string {
	switch s := e.Situation; {
	case e.Fix != "":
		return e.Fix
	case s().Standing != history.Own:
		return "revoke it where it was issued, before anything else: " + s().excuse(f.Fingerprint()[:12])
	}
	return "this masks it, and keeps the rest of the entry: " + e.putBack()
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

// putBack brings the log's old entries back, and keeps new ones after them.
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
		source = fmt.Sprintf(`"$(git rev-list -n 1 %s -- %s)^"`, from, at) // the last commit that touched it took it away
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

// InDirectory is the flag that names the workspace of a path, wherever it is typed; empty for the root's workspace.
func InDirectory(path string) string {
	if dir, _ := small.WorkspaceOf(path); dir != "" {
		return " -C " + wording.TopPath(dir)
	}
	return ""
}

// reconcile ends a merge under way with every entry of both sides.
const reconcile = "`small-hook reconcile`, `git commit --no-edit`"

// MergeWith merges a branch, with every entry of both sides.
func MergeWith(revision string) string {
	return wording.Commands("git merge --no-ff --no-commit "+wording.ShellWord(revision)) + ", " + reconcile
}
