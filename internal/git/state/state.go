// Package state finds the operation that git has begun in a work tree and not finished, and the commands that finish it or give it up.
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
)

// Unfinished is an operation that git has begun in a work tree and not finished.
type Unfinished struct {
	// Command is the git command; empty if nothing is under way.
	Command string
	// Finish is the command that commits and continues, without an editor. It is empty if the next commit is not part of the operation.
	Finish string
	// Skip is the command that continues if there is nothing to commit.
	Skip string
	// file is the file or folder in the git directory that shows that the operation is under way.
	file string
}

// The commands that can be unfinished, by git's names.
const (
	Merge  = "merge"
	Rebase = "rebase"
	Pick   = "cherry-pick"
	Revert = "revert"
	Apply  = "am"
)

// UndoCommand returns the command that gives up the operation of a git command and restores the state before it. For an empty command, it undoes
// what a squash or a conflict left in the index.
func UndoCommand(command string) string {
	if command == "" {
		return "git reset --merge"
	}
	return "git " + command + " --abort"
}

// operations are the operations that can be unfinished, outermost first: a rebase can contain each of those below it.
var operations = []Unfinished{
	{Apply, "git am --continue", "git am --skip", "rebase-apply/applying"},
	resumable(Rebase, "rebase-merge"),
	resumable(Rebase, "rebase-apply"),
	{Merge, wording.FinishMerge, wording.FinishMerge, "MERGE_HEAD"},
	resumable(Revert, "REVERT_HEAD"),
	resumable(Pick, "CHERRY_PICK_HEAD"),
}

// resumable makes the operation of a command that has the options --continue and --skip.
func resumable(command, file string) Unfinished {
	return Unfinished{command, "git -c core.editor=true " + command + " --continue", "git " + command + " --skip", file}
}

// Read finds the outermost operation that git has not finished in the work tree of a git directory. If a rebase has stopped for an edit, an
// operation that somebody began there comes first: to continue the rebase would add its changes to the edited commit. Read fails only if it
// cannot read.
func Read(gitDir string) (Unfinished, error) {
	edits, err := stoppedForEdit(gitDir)
	if err != nil {
		return Unfinished{}, err
	}
	var outer Unfinished
	for _, u := range operations {
		there, err := Exists(filepath.Join(gitDir, filepath.FromSlash(u.file)))
		switch {
		case err != nil:
			return Unfinished{}, err
		case there && edits && u.Command == Rebase:
			outer = u
		case there:
			return u, nil
		}
	}
	if outer.Command != "" {
		return outer, nil
	}
	// git was asked to revert or pick several commits. The last one was committed, by git or by hand, and others are left to do.
	data, err := ReadFile(gitDir, "sequencer/todo")
	switch {
	case data == nil:
		return Unfinished{}, err
	case bytes.HasPrefix(data, []byte(Revert)):
		return Unfinished{Command: Revert, Skip: resumable(Revert, "").Finish}, nil
	}
	return Unfinished{Command: Pick, Skip: resumable(Pick, "").Finish}, nil
}

// stoppedForEdit reports whether a rebase has stopped so that somebody edits the commit that it has just made. A conflict in a fixup or a squash
// leaves the same file, and besides the list of what was squashed so far.
func stoppedForEdit(gitDir string) (bool, error) {
	amends, err := Exists(filepath.Join(gitDir, "rebase-merge", "amend"))
	if err != nil || !amends {
		return false, err
	}
	squashes, err := Exists(filepath.Join(gitDir, "rebase-merge", "current-fixups"))
	return !squashes, err
}

// Replays reports whether git is copying existing commits, which keep their authors, in the work tree of a git directory. If a rebase has stopped
// for an edit, the next commit counts as a new one.
func Replays(gitDir string) (bool, error) {
	picked, err := Exists(filepath.Join(gitDir, "CHERRY_PICK_HEAD"))
	if err != nil || picked {
		return picked, err
	}
	if edits, err := stoppedForEdit(gitDir); err != nil || edits {
		return false, err
	}
	for _, name := range []string{"rebase-merge", "rebase-apply"} {
		if there, err := Exists(filepath.Join(gitDir, name)); err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// NextCommands returns the commands to type once everything is mended and staged, or none if no operation is under way. staged says whether
// something is staged.
func (u Unfinished) NextCommands(gitDir string, staged bool) ([]string, error) {
	switch {
	case !staged && u.file == "rebase-merge":
		// --skip would reset files that were edited meanwhile; --continue refuses in that case.
		return []string{u.Finish}, nil
	case !staged && u.Skip != "":
		return []string{u.Skip}, nil
	case staged && u.Finish != "":
		return []string{u.Finish}, nil
	}
	// A revert that a hook has rejected leaves MERGE_MSG but no REVERT_HEAD.
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

// Remedy says how to finish the operation, from any directory. byHand are the paths in conflict that small-hook reconcile does not resolve: a person
// must do that first.
func (u Unfinished) Remedy(byHand []string) string {
	if u.Finish == "" {
		return "`" + u.Skip + "`"
	}
	first := ""
	var names, paths []string
	for _, path := range byHand {
		names, paths = append(names, wording.Printable(path)), append(paths, wording.TopPath(path))
	}
	if len(paths) > 0 {
		first = "resolve the conflict in " + strings.Join(names, ", ") + ", then `git add -- " + strings.Join(paths, " ") + "`, then "
	}
	return first + "`small-hook reconcile`, then `" + u.Finish + "`"
}

// squashFile is the file in the git directory with the message that git merge --squash prepares.
const squashFile = "SQUASH_MSG"

// Squashes reports whether the result of a git merge --squash is not committed yet.
func Squashes(gitDir string) (bool, error) { return Exists(filepath.Join(gitDir, squashFile)) }

// squashedLine matches the line with which git lists a squashed commit. git indents the lines of that commit's message.
var squashedLine = expression.Of(`(?m)^commit ([0-9a-f]{40}|[0-9a-f]{64})\b`)

// Squashed lists the commits that a git merge --squash has combined, newest first, while its result is not committed yet.
func Squashed(gitDir string) (commits []string, err error) {
	data, err := ReadFile(gitDir, squashFile)
	for _, found := range squashedLine().FindAllSubmatch(data, -1) {
		commits = append(commits, string(found[1]))
	}
	return commits, err
}

// Message returns the texts that git has prepared for the message of the next commit; only line feeds if there are none.
func Message(gitDir string) (string, error) {
	squash, err := ReadFile(gitDir, squashFile)
	if err != nil {
		return "", err
	}
	merge, err := ReadFile(gitDir, "MERGE_MSG")
	return string(squash) + "\n" + string(merge) + "\n", err
}

// ReadFile reads a file of the git directory. It returns nil if there is none.
func ReadFile(gitDir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(gitDir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &failure.Error{Message: "cannot read the state of git's operation: " + wording.Printable(err.Error()), Remedy: "make the git directory readable", Err: err}
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
