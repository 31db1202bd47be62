// Package remedy says what to type or do next, depending on what was done and who already has it.
package remedy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
)

// Situation says what has to be undone (a commit, the index or the work tree) and who has it already: that decides how to undo it.
type Situation struct {
	// Commit is the commit to undo, or Index or WorkTree; empty if it is not known. Standing says who has it.
	Commit   string
	Standing history.Standing
	// Remote says where commits are pushed. It is set only for a commit.
	Remote history.Remote
	// Last is true for the commit that is checked out.
	Last bool
	// Switch is the branch that has the commit, if another one is checked out.
	Switch string
	// Against is the commit with which the work tree is compared, if that is not HEAD.
	Against string
	// Deep is true for a commit of a whole history that only this clone has, with so many commits after it that they are not rewritten.
	Deep bool
	// Mend is the command that rewrites this commit, or an earlier one that has to be rewritten for the same log: the same command mends both.
	// It is nil if only this commit is looked at.
	Mend func(path string, files []string) string
	// Merge is true for an index that concludes a merge.
	Merge bool
	// Agent is true if an agent asks: it may not accept anything. NoWaiver and NoBaseline are true if a floor forbids these.
	Agent, NoWaiver, NoBaseline bool
}

// MostRemade is how many commits from the tip a commit may be so that it is rewritten.
const MostRemade = 20

// CommittedBefore is the fix for what a change finds there and has not made.
const CommittedBefore = "it was committed before this change; see by which commit, and what to do: `small-hook audit`"

// Resolve is the fix for a conflict in the workspace in dir.
func (s Situation) Resolve(dir string) string {
	return s.Undo(small.InDir(dir, ""), []string{"small-hook reconcile"})
}

// Undo is the fix that undoes what was done to the workspace of path. uncommitted are the commands for it before anything is committed. A
// commit that nobody else has is rewritten, with files as they were before it; all other work is kept. A commit that others have stays.
func (s Situation) Undo(path string, uncommitted []string, files ...string) string {
	switch {
	case s.Commit == "":
		return CommittedBefore
	case history.Uncommitted(s.Commit):
		return wording.Commands(uncommitted...)
	case s.Standing == history.Own && s.Deep:
		return s.accept(strconv.Itoa(MostRemade) + " or more commits stand on this one. Have a person accept the logs as they are now; only later changes are then judged: ")
	case s.Standing == history.Own && s.Mend != nil:
		return s.OnBranch(s.Mend(path, files))
	case s.Standing == history.Own:
		return s.OnBranch(Mend(path, s.Commit, files...))
	case s.Standing == history.Landed:
		return "Landed commits are never rewritten. " + s.accept("Have a person accept the logs as they are now; only later changes are then judged: ")
	}
	const ask = "ask whoever keeps the floor, which forbids waivers"
	switch {
	case s.Standing == history.Tagged && s.NoWaiver:
		return "A tag has this commit, so it stays: " + ask
	case s.Standing == history.Tagged:
		return "A tag has this commit, so it stays. " + waive
	}
	remake := "Others may have this commit. If nobody has built on it: " +
		wording.Commands(Mend(path, s.Commit, files...)+" --pushed", "git push --force-with-lease --force-if-includes") + "\n"
	if s.NoWaiver {
		return remake + "Otherwise " + ask
	}
	return remake + "Otherwise " + midSentence(waive)
}

// fingerprint stands in a fix for the fingerprint of the finding, which is not known yet: see ForFinding.
const fingerprint = "FINGERPRINT"

// waive is the fix by which a person waives the edit that a finding is about.
const waive = "A maintainer accepts the edit: `small-hook waive " + fingerprint + ` --reason "accepted as it stands"` + "`, which counts once the target branch has it"

// ForFinding is a fix with the fingerprint of its finding, by which the edit is waived. What is no edit has none, and cannot be waived: a
// maintainer decides.
func ForFinding(fix, id string) string {
	if id != "" {
		return strings.ReplaceAll(fix, "waive "+fingerprint+" ", "waive "+id+" ")
	}
	return instead(fix, "A maintainer decides")
}

// Proposed is a fix for an edit that a waiver in the same change would allow.
func Proposed(fix string) string {
	return instead(fix, "A maintainer brings the waiver to the target branch first, in a change of its own; then this one passes")
}

// instead is a fix with another sentence in the place of the one about a waiver.
func instead(fix, sentence string) string {
	return strings.NewReplacer(waive, sentence, midSentence(waive), midSentence(sentence)).Replace(fix)
}

// midSentence is a sentence as it goes on after another word.
func midSentence(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// OnBranch runs a command on the branch that has the commit.
func (s Situation) OnBranch(command string) string {
	if s.Switch == "" {
		return wording.Commands(command)
	}
	return wording.Commands("git switch "+wording.ShellWord(s.Switch), command, "git switch -")
}

// AcceptSince is the fix for a commit that others have and that changed a configured log.
func (s Situation) AcceptSince() string {
	const never = "Landed commits are never rewritten. "
	if s.NoBaseline {
		return never + "Ask whoever keeps the floor what to accept"
	}
	return never + "Have a person accept what was done until then, by since: " + s.Commit + " in the log's stanza in .small-gate.yml; only later changes are then judged"
}

// BringBack is the fix for a landed commit that deleted the log of a path; there is true if the log has come back since.
func (s Situation) BringBack(path string, there bool) string {
	fix := "Landed commits are never rewritten. The log comes back in a new commit: " +
		wording.Commands("small-hook restore"+InDirectory(path), `git commit -m "Restore the log"`) + ". "
	if there {
		fix = "Landed commits are never rewritten, and the log is back. "
	}
	if s.Agent {
		return fix + "Then ask a person to waive the deletion: small-hook waive " + fingerprint + " refuses agents"
	}
	return fix + "Then have a person waive the deletion: " +
		wording.Commands("small-hook waive "+fingerprint+` --reason "the log is back"`, "git add -- :/.small-gate.yml", `git commit -m "Waive the deletion" -- :/.small-gate.yml`)
}

// accept is the fix by which a person accepts the past; words come before the commands, and after are further ones.
func (s Situation) accept(words string, after ...string) string {
	switch {
	case s.NoBaseline:
		return "Ask whoever keeps the floor: it forbids baselines of the repository"
	case s.Agent:
		return "Ask a person to accept the logs as they are now, with small-hook baseline, which refuses agents; only later changes are then judged"
	}
	return strings.Join(append([]string{words + AcceptPast}, after...), ", ")
}

// Excuse is the hint that one edit can be waived, to be appended to a fix; empty if a floor forbids that.
func (s Situation) Excuse() string {
	if s.NoWaiver {
		return ""
	}
	return "; to waive this edit alone, see small-hook waive --help"
}

// Mend is the command that rewrites a commit that nobody else has, and those after it.
func Mend(path, commit string, files ...string) string {
	dir, inside := small.WorkspaceOf(path)
	in := ""
	switch {
	case len(files) == 0:
		in = InDirectory(path)
	case inside:
		in = InDirectory(small.InDir(dir, ""))
	}
	out := "small-hook restore" + in + " --commit " + history.Short(commit)
	for _, file := range files {
		out += " " + wording.TopPath(file)
	}
	return out
}

// MendAll is the command that does what some commands of Mend do, for logs or files of paths, with the earliest of their commits. It is empty
// if there is none: no two workspaces have files that are named.
func MendAll(paths []string, commit string, files ...string) string {
	words := ""
	for _, path := range append(slices.Clone(paths), files...) {
		dir, inside := small.WorkspaceOf(path)
		switch _, name, _ := small.SplitPath(path); {
		case !inside:
			words += " " + wording.TopPath(path)
		case len(files) > 0:
			return ""
		default:
			if _, known := small.ArtifactOf(name); known || name == "" {
				path = small.Progress.Path(dir)
			}
			words += " " + wording.TopPath(path)
		}
	}
	return "small-hook restore" + words + " --commit " + history.Short(commit)
}

// Return is the fix that brings back what a log has lost since its branch was at the commit left. The commits from first on were made
// instead, and are rewritten with what was lost; first is empty if there are none.
func Return(left, first, path string) string {
	if first == "" {
		return wording.Commands(RestoreFrom(path, history.Short(left)))
	}
	return wording.Commands(Mend(path, first) + " --source " + history.Short(left))
}

// RestoreFrom is the command that brings back what a log has lost since a revision.
func RestoreFrom(path, revision string) string {
	return "small-hook restore" + InDirectory(path) + " --source " + wording.ShellWord(revision)
}

// AcceptPast are the commands that accept every log as it is in HEAD.
var AcceptPast = wording.Commands("small-hook baseline", "git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`)

// AcceptsPast reports whether a fix has somebody accept the logs as they are.
func AcceptsPast(fix string) bool { return strings.Contains(fix, "small-hook baseline") }

// InDirectory is the flag that names the workspace of a path, in whatever directory it is typed; empty for the workspace at the root. For
// a log outside of workspaces it is the log's path.
func InDirectory(path string) string {
	dir, inside := small.WorkspaceOf(path)
	_, name, _ := small.SplitPath(path)
	_, known := small.ArtifactOf(name)
	switch {
	case path == "":
		return ""
	case !inside, name != "" && !known:
		return " " + wording.TopPath(path)
	case dir != "":
		return " -C " + wording.TopPath(dir)
	}
	return ""
}

// Reconcile are the commands that finish a merge and keep every entry of both sides.
const Reconcile = "`small-hook reconcile`, `" + wording.FinishMerge + "`"

// MergeWith is the fix that merges a branch and keeps every entry of both sides.
func MergeWith(revision string) string {
	return wording.Commands("git merge --no-ff --no-commit "+wording.ShellWord(revision)) + ", " + Reconcile
}

// Correct is the fix for a new entry; how is the correction. alone is true if the commit brought no other one to its log.
func (s Situation) Correct(how, path string, alone bool) string {
	switch {
	case history.Uncommitted(s.Commit):
		return how
	case s.Commit != "" && s.Standing == history.Own && alone:
		return "take it out of its commit, which nobody else has: " + s.OnBranch(Mend(path, s.Commit)+" --discard-new") + "; then record it anew, and " + how
	case s.Commit != "" && s.Standing == history.Own && s.Last:
		return how + ", and put it into the last commit, which nobody else has: " + wording.Commands("git add -- "+wording.TopPath(path), "git commit --amend --no-edit")
	case s.Commit != "" && s.Standing == history.Own:
		return how + ", in the commit that brought the entry, which nobody else has: " + history.Short(s.Commit)
	case s.Commit != "":
		return "A committed entry is never edited. " + s.accept("Have a person accept the logs as they are now, and push that before any new work: ", "`git push`")
	}
	return s.Undo(path, nil)
}

// BeginRun begins a new run in the workspace of a directory whose run is over, after the commit that is judged, in the index, or on disk.
// before are commands that come first, if any.
func BeginRun(dir, commit, before string) string {
	return "the run is over: a person writes the new intent into " + small.Intent.Path(dir) + "; then " + before +
		ThenCommit(commit, "Begin a new run", "small-hook replay-id --write"+InDirectory(small.Handoff.Path(dir)), small.InDir(dir, ""))
}

// ByProgram has the protocol's own program do something in the workspace of a directory.
func ByProgram(dir, commit, title, command string) string {
	if dir != "" {
		command += " --dir " + wording.ShellWord(dir)
	}
	return ThenCommit(commit, title, command, small.InDir(dir, ""))
}

// ThenCommit are a command, one that stages what it wrote at a path, and, unless the index is judged, one that commits it. On
// disk there is nothing to stage.
func ThenCommit(commit, title, command, path string) string {
	all := []string{command}
	if commit != "" {
		all = append(all, "git add -- "+wording.TopPath(path))
	}
	if commit != "" && !history.Uncommitted(commit) {
		all = append(all, "git commit -m \""+title+"\"")
	}
	return wording.Commands(all...)
}
