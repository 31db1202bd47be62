// Package remedy says what to type or do next, depending on what was done and who already has it.
package remedy

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
)

// Situation says what has to be undone (a commit, the index or the work tree) and who already has it. The fix depends on both.
type Situation struct {
	// Commit is the commit to undo, or Index or WorkTree; empty if it is not known. Standing says who has it.
	Commit   string
	Standing history.Standing
	// Remote says where commits are pushed. It is set only for a commit.
	Remote history.Remote
	// Last is true for the commit that is checked out.
	Last bool
	// MendFirst is true if a commit that has not landed is at fault, which another finding names, even if the entry came with a landed one.
	MendFirst bool
	// Elsewhere is the branch that has the commit, if it is not checked out here.
	Elsewhere history.Elsewhere
	// Against is the commit with which the work tree is compared, if that is not HEAD.
	Against string
	// Deep is true for a commit of a whole history that only this clone has, if MostRemade or more commits follow it.
	Deep bool
	// Mend returns the command that rewrites this commit, or an earlier one if that has to be rewritten for the same log: one command then mends
	// both. It is nil if only this commit is looked at.
	Mend func(path string, files []string) string
	// Merge is true for an index that concludes a merge.
	Merge bool
	// Agent is true if an agent asks: it may not accept edits. NoWaiver, NoBaseline and NoSince are true if a floor forbids these.
	Agent, NoWaiver, NoBaseline, NoSince bool
}

// MostRemade is the number of commits from the tip that a fix rewrites at most.
const MostRemade = 20

// CommittedBefore is the fix for what was wrong before the judged change.
const CommittedBefore = "it was committed before this change; see by which commit, and what to do: `small-hook audit`"

// ReadableAgain returns the fix for a file of a revision, or on disk, that cannot be read as a log. hint is the problem's fix; it may be empty.
func ReadableAgain(path, revision, hint string) string {
	if revision != "" && !history.Uncommitted(revision) {
		return cmp.Or(hint, "see by which commit, and what to do: `small-hook audit`")
	}
	return cmp.Or(hint, "correct it, or put the last log back, which keeps this file aside: "+wording.Commands("small-hook restore"+InDirectory(path)))
}

// Resolve returns the fix for a conflict in the workspace in dir.
func (s Situation) Resolve(dir string) string {
	return s.Undo(small.InDir(dir, ""), []string{"small-hook reconcile"})
}

// Undo returns the fix that undoes a change to the log or workspace of path. uncommitted are the commands for a change that is not committed. A
// commit that nobody else has is rewritten, with files as they were before it, and all other work is kept. A commit that others may have stays.
func (s Situation) Undo(path string, uncommitted []string, files ...string) string {
	switch {
	case s.MendFirst && (s.Commit == "" || s.Standing == history.Landed):
		return MendFirst
	case s.Commit == "":
		return CommittedBefore
	case history.Uncommitted(s.Commit):
		return wording.Commands(uncommitted...)
	case s.Standing == history.Own && s.Deep:
		return s.accept(strconv.Itoa(MostRemade) + " or more commits stand on this one. Have a person accept the logs as they are now; only later changes are then judged: ")
	case s.Standing == history.Own:
		return s.OnBranch(s.mend(path, files))
	case s.Standing == history.Landed:
		return s.acceptLanded()
	}
	const ask = "ask whoever keeps the floor, which forbids waivers"
	switch {
	case s.Standing == history.Tagged && s.NoWaiver:
		return "A tag has this commit, so it stays: " + ask
	case s.Standing == history.Tagged:
		return "A tag has this commit, so it stays. " + waive
	}
	remake := "Others may have this commit. If nobody has built on it: " +
		s.OnBranch(s.mend(path, files), "git push --force-with-lease --force-if-includes") + "\n"
	if s.NoWaiver {
		return remake + "Otherwise " + ask
	}
	return remake + "Otherwise " + midSentence(waive)
}

// mend returns the command that mends the commit.
func (s Situation) mend(path string, files []string) string {
	if s.Mend != nil {
		return s.Mend(path, files)
	}
	return MendCommand(s.Standing, Mend(path, s.Commit, files...))
}

// MendCommand returns the command that mends a commit of some standing; command is the one for a commit that nobody else has.
func MendCommand(standing history.Standing, command string) string {
	if standing == history.Own {
		return command
	}
	return command + " --pushed"
}

// fingerprint is a placeholder for the fingerprint of the finding, which ForFinding fills in.
const fingerprint = "FINGERPRINT"

// waive is the fix by which a person waives the edit that a finding is about.
const waive = "A maintainer accepts the edit: `small-hook waive " + fingerprint + ` --reason "accepted as it stands"` + "`, which counts once the target branch has it"

// ForFinding fills the fingerprint of its finding into a fix. If id is empty, the finding is about no edit and cannot be waived: then the fix says
// that a maintainer decides.
func ForFinding(fix, id string) string {
	if id != "" {
		return strings.ReplaceAll(fix, "waive "+fingerprint+" ", "waive "+id+" ")
	}
	return replaceWaiver(fix, "A maintainer decides")
}

// Proposed changes the fix of an edit that a waiver in the same change would allow.
func Proposed(fix string) string {
	return replaceWaiver(fix, "A maintainer brings the waiver to the target branch first, in a change of its own; then this one passes")
}

// replaceWaiver replaces the sentence about a waiver in a fix.
func replaceWaiver(fix, sentence string) string {
	return strings.NewReplacer(waive, sentence, midSentence(waive), midSentence(sentence)).Replace(fix)
}

// midSentence makes the first letter of a sentence lower case.
func midSentence(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// OnBranch returns the fix that runs commands on the branch that has the commit.
func (s Situation) OnBranch(commands ...string) string { return OnBranch(s.Elsewhere, commands...) }

// OnBranch returns the fix that runs commands on a branch that is not checked out here; with the zero value, on the one that is.
func OnBranch(branch history.Elsewhere, commands ...string) string {
	switch {
	case branch.WorkTree != "":
		commands = slices.Concat([]string{"cd " + wording.ShellWord(branch.WorkTree)}, commands, []string{"cd -"})
	case branch.Branch != "":
		commands = slices.Concat([]string{"git switch " + wording.ShellWord(branch.Branch)}, commands, []string{"git switch -"})
	}
	return wording.Commands(commands...)
}

// AcceptSince returns the fix for a landed commit that changed a configured log.
func (s Situation) AcceptSince() string {
	s.NoBaseline = s.NoSince
	return s.acceptLanded()
}

func (s Situation) acceptLanded() string {
	return "Landed commits are never rewritten. " + s.accept("Have a person accept the logs as they are now; only later changes are then judged: ")
}

// BringBack returns the fix for a landed commit that deleted the log of a path. there is true if the log has come back since.
func (s Situation) BringBack(path string, there bool) string {
	place := path
	if dir, inside := small.WorkspaceOf(path); inside {
		place = small.InDir(dir, "")
	}
	fix := "Landed commits are never rewritten. The log comes back in a new commit: " +
		s.OnBranch("small-hook restore"+InDirectory(path), `git commit -m "Restore the log" -- `+wording.TopPath(place)) + ". "
	if there {
		fix = "Landed commits are never rewritten, and the log is back. "
	}
	if s.Agent {
		return fix + "Then ask a person to waive the deletion: small-hook waive " + fingerprint + " refuses agents"
	}
	return fix + "Then have a person waive the deletion: " +
		s.OnBranch("small-hook waive "+fingerprint+` --reason "the log is back"`, "git add -- :/.small-gate.yml", `git commit -m "Waive the deletion" -- :/.small-gate.yml`)
}

// accept returns the fix by which a person accepts all logs as they are. words come before the commands; after are further commands.
func (s Situation) accept(words string, after ...string) string {
	switch {
	case s.NoBaseline:
		return "Ask whoever keeps the floor: it forbids the repository to accept the past"
	case s.Agent:
		return "Ask a person to accept the logs as they are now, with small-hook baseline, which refuses agents; only later changes are then judged"
	}
	return words + s.OnBranch(slices.Concat(acceptPast, after)...)
}

// WaiverHint says, to be appended to a fix, that the edit can be waived; empty if a floor forbids that.
func (s Situation) WaiverHint() string {
	if s.NoWaiver {
		return ""
	}
	return "; to waive this edit alone, see small-hook waive --help"
}

// Mend returns the command that rewrites a commit that nobody else has, and those after it.
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

// mostNamed is the largest number of files that a command names one by one.
const mostNamed = 20

// foldersOf returns the folders of files, each once. A file at the root stays.
func foldersOf(files []string) []string {
	var out []string
	for _, file := range files {
		if folder := path.Dir(file); folder != "." {
			file = folder
		}
		out = append(out, file)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// MendAll returns one command for several of Mend: for the logs at paths and for files, with the earliest of the commits. It is empty if no single
// command can do it, because a file is a record of 2.0.0. Of more than mostNamed files it names the folders: restore takes these too.
func MendAll(paths []string, commit string, files ...string) string {
	words := ""
	if len(files) > mostNamed {
		files = foldersOf(files)
	}
	for _, file := range files {
		dir, inside := small.WorkspaceOf(file)
		_, name, _ := small.SplitPath(file)
		if _, known := small.ArtifactOf(name); inside && !known {
			return ""
		}
		if inside && len(paths) == 0 { // a workspace's file is mended together with a log
			paths = []string{small.Progress.Path(dir)}
		}
	}
	for _, path := range paths {
		if dir, inside := small.WorkspaceOf(path); inside {
			_, name, _ := small.SplitPath(path)
			if _, known := small.ArtifactOf(name); known || name == "" {
				path = small.Progress.Path(dir)
			}
		}
		words += " " + wording.TopPath(path)
	}
	for _, file := range files {
		words += " " + wording.TopPath(file)
	}
	return "small-hook restore" + words + " --commit " + history.Short(commit)
}

// RestoreLost returns the fix that brings back the entries that a log has lost since its branch was moved off the commit left. The commits from first
// on, made since then, are rewritten with these entries; first is empty if there are none.
func RestoreLost(left, first, path string) string {
	if first == "" {
		return wording.Commands(RestoreFrom(path, history.Short(left)))
	}
	return wording.Commands(Mend(path, first) + " --source " + history.Short(left))
}

// RestoreFrom returns the command that brings back the entries that a log has lost since a revision.
func RestoreFrom(path, revision string) string {
	return "small-hook restore" + InDirectory(path) + " --source " + wording.ShellWord(revision)
}

var acceptPast = []string{"small-hook baseline", "git add -- :/.small-gate.yml", `git commit -m "Accept the logs as they stand" -- :/.small-gate.yml`}

// AcceptPast are the commands that accept every log as it is in HEAD.
var AcceptPast = wording.Commands(acceptPast...)

// AcceptsPast reports whether a fix makes a person accept the logs as they are.
func AcceptsPast(fix string) bool { return strings.Contains(fix, "small-hook baseline") }

// InDirectory returns the argument that names the workspace of a path, whatever the current directory; empty for the workspace at the root. For
// a log outside of workspaces it is the log's path. It begins with a space.
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

// CommitAgain follows the commands of a fix for the next commit. If git has not finished an operation, the commands that continue it replace CommitAgain.
const CommitAgain = ", and commit again"

// RenameOwn is the fix for two branches that each have a new file of one name, which must not change.
const RenameOwn = "give your own file another name in the commit that brought it: a merge keeps the files of both sides"

// MergeWith returns the fix that merges a branch and keeps every entry of both sides.
func MergeWith(revision string) string { return wording.Commands(MergeCommands(revision)...) }

// MergeCommands are the commands of MergeWith.
func MergeCommands(revision string) []string {
	return []string{"git merge --no-ff --no-commit " + wording.ShellWord(revision), "small-hook reconcile", wording.FinishMerge}
}

// MendFirst is the fix for what the commits that other findings name have caused.
const MendFirst = "mend the commits first that other findings name, then judge it again"

// Correct returns the fix for a new entry; how is the correction.
func (s Situation) Correct(how, path string) string { return s.CorrectEntry(how, path, false) }

// CorrectEntry is Correct for an entry of a configured log. alone is true if the commit added no other entry to the log.
func (s Situation) CorrectEntry(how, path string, alone bool) string {
	switch {
	case history.Uncommitted(s.Commit):
		return how
	case s.Commit != "" && s.Standing == history.Own && alone:
		return "take it out of its commit, which nobody else has: " + s.OnBranch(Mend(path, s.Commit)+" --discard-new") + "; then record it anew, and " + how
	case s.Commit != "" && s.Standing == history.Own && s.Last:
		return how + ", and amend the last commit, which nobody else has: " + wording.Commands("git add -- "+wording.TopPath(path), "git commit --amend --no-edit")
	case s.Commit != "" && s.Standing == history.Own:
		return how + ", in the commit that brought the entry, which nobody else has: " + history.Short(s.Commit)
	case s.Commit != "":
		return "A committed entry is never edited. " + s.accept("Have a person accept the logs as they are now, and push that before any new work: ", "git push")
	}
	return s.Undo(path, nil)
}

// BeginRun returns the fix that begins a new run in the workspace of a directory. commit is the judged commit, the index, or empty for files on
// disk. before are commands that come first, if any.
func BeginRun(dir, commit, before string) string {
	return "the run is over: a person writes the new intent into " + wording.ShellWord(small.Intent.Path(dir)) + "; then " + before +
		ThenCommit(commit, "Begin a new run", "small-hook replay-id --write"+InDirectory(small.Handoff.Path(dir)), small.InDir(dir, ""))
}

// ByProgram returns the fix that runs a command of the protocol's own program in the workspace of a directory.
func ByProgram(dir, commit, title, command string) string {
	if dir != "" {
		command += " --dir " + wording.ShellWord(dir)
	}
	return ThenCommit(commit, title, command, small.InDir(dir, ""))
}

// ThenCommit returns a command, one that stages what it wrote at a path, and, unless the index is judged, one that commits it. commit is the
// judged commit or the index; if it is empty, files on disk are judged, and nothing is staged.
func ThenCommit(commit, title, command, path string) string {
	all := []string{command}
	if commit != "" {
		all = append(all, "git add -- "+wording.TopPath(path))
	}
	if commit != "" && !history.Uncommitted(commit) {
		all = append(all, "git commit -m \""+title+"\" -- "+wording.TopPath(path))
	}
	return wording.Commands(all...)
}
