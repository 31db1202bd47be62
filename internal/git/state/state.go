// Package state says what git has begun in a work tree and not finished, and what ends it.
package state

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// Unfinished is an operation that git has begun in a work tree and not finished.
type Unfinished struct {
	// Command is the git command; empty if nothing is under way.
	Command string
	// Finish is the command that commits and continues, without an editor, and Skip the one that continues if there is nothing to commit.
	// Finish is empty if the commit is not part of the operation.
	Finish, Skip string
	// file in the git directory shows that it is under way.
	file string
}

// What git can be in the middle of, by its own names.
const (
	Merge  = "merge"
	Rebase = "rebase"
	Pick   = "cherry-pick"
	Revert = "revert"
	Apply  = "am"
)

// Undo is the command that gives up an operation of a git command, and brings back what was there before. Without one it undoes what a
// squash or a conflict left in the index.
func Undo(command string) string {
	if command == "" {
		return "git reset --merge"
	}
	return "git " + command + " --abort"
}

// unfinished are the possible operations, outermost first: a rebase can contain each of the others.
var unfinished = []Unfinished{
	{Apply, "git am --continue", "git am --skip", "rebase-apply/applying"},
	continued(Rebase, "rebase-merge"),
	continued(Rebase, "rebase-apply"),
	{Merge, wording.FinishMerge, wording.FinishMerge, "MERGE_HEAD"},
	continued(Revert, "REVERT_HEAD"),
	continued(Pick, "CHERRY_PICK_HEAD"),
}

func continued(command, file string) Unfinished {
	return Unfinished{command, "git -c core.editor=true " + command + " --continue", "git " + command + " --skip", file}
}

// UnderWay finds what git has not finished in the work tree of a git directory. Its error is a read error.
func UnderWay(gitDir string) (Unfinished, error) {
	for _, u := range unfinished {
		if there, err := Exists(filepath.Join(gitDir, filepath.FromSlash(u.file))); err != nil || there {
			return u, err
		}
	}
	// One of several reverts or picks was committed, by git or by hand.
	data, err := File(gitDir, "sequencer/todo")
	switch {
	case data == nil:
		return Unfinished{}, err
	case bytes.HasPrefix(data, []byte(Revert)):
		return Unfinished{Command: Revert, Skip: continued(Revert, "").Finish}, nil
	}
	return Unfinished{Command: Pick, Skip: continued(Pick, "").Finish}, nil
}

// Replays reports whether git is remaking existing commits in the work tree of a git directory: they keep their authors. If a rebase has
// stopped for an edit, with the file amend, the next commit is a new one.
func Replays(gitDir string) (bool, error) {
	picked, err := Exists(filepath.Join(gitDir, "CHERRY_PICK_HEAD"))
	if err != nil || picked {
		return picked, err
	}
	if stopped, err := Exists(filepath.Join(gitDir, "rebase-merge", "amend")); err != nil || stopped {
		return false, err
	}
	for _, name := range []string{"rebase-merge", "rebase-apply"} {
		if there, err := Exists(filepath.Join(gitDir, name)); err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// After are the commands to continue with once all is mended and staged; none if git has nothing under way. staged says that something is
// staged.
func (u Unfinished) After(gitDir string, staged bool) ([]string, error) {
	switch {
	case !staged && u.file == "rebase-merge":
		// Not --skip, which resets files edited meanwhile: --continue refuses in that case.
		return []string{u.Finish}, nil
	case !staged && u.Skip != "":
		return []string{u.Skip}, nil
	case staged && u.Finish != "":
		return []string{u.Finish}, nil
	}
	// A revert that a hook rejected leaves its message, and no REVERT_HEAD.
	begun, err := Exists(filepath.Join(gitDir, "MERGE_MSG"))
	if err == nil && !begun {
		begun, err = Squashes(gitDir)
	}
	switch {
	case !begun || !staged:
		return nil, err
	case u.Skip != "":
		return []string{wording.FinishMerge, u.Skip}, err
	}
	return []string{wording.FinishMerge}, err
}

// Remedy says how to finish it, from any directory. unmerged are the paths in conflict: a person must first resolve those outside .small.
func (u Unfinished) Remedy(unmerged []string) string {
	first := "`small-hook reconcile`"
	var names, paths []string
	for _, path := range unmerged {
		if _, _, in := small.SplitPath(path); !in {
			names, paths = append(names, wording.Printable(path)), append(paths, wording.TopPath(path))
		}
	}
	if len(paths) > 0 {
		first = "resolve the conflict in " + strings.Join(names, ", ") + ", then `git add -- " + strings.Join(paths, " ") + "`, then " + first
	}
	if u.Finish == "" {
		return "`" + u.Skip + "`"
	}
	return first + ", then `" + u.Finish + "`"
}

// squashFile has the message that git merge --squash prepares.
const squashFile = "SQUASH_MSG"

// Squashes reports whether what git merge --squash took over has yet to be committed.
func Squashes(gitDir string) (bool, error) { return Exists(filepath.Join(gitDir, squashFile)) }

// listed is git's own line about a squashed commit: the lines of its message are indented.
var listed = expression.Of(`(?m)^commit ([0-9a-f]{40}|[0-9a-f]{64})\b`)

// Squashed lists the commits that git merge --squash took over and that have yet to be committed, newest first.
func Squashed(gitDir string) (commits []string, err error) {
	data, err := File(gitDir, squashFile)
	for _, found := range listed().FindAllSubmatch(data, -1) {
		commits = append(commits, string(found[1]))
	}
	return commits, err
}

// Message is what git has prepared as the message of the next commit; empty if nothing.
func Message(gitDir string) (string, error) {
	squash, err := File(gitDir, squashFile)
	if err != nil {
		return "", err
	}
	merge, err := File(gitDir, "MERGE_MSG")
	return string(squash) + "\n" + string(merge) + "\n", err
}

// File reads a file of the git directory; nil if there is none.
func File(gitDir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(gitDir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &failure.Error{Message: "cannot read what git has begun: " + wording.Printable(err.Error()), Remedy: "make the git directory readable", Err: err}
	}
	return data, nil
}

// Exists reports whether something is at a path.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	}
	return false, &failure.Error{Message: "cannot look for " + path + ": " + err.Error(), Err: err}
}
