package checkout

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
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
)

// unfinished are the possible operations, outermost first: a rebase can contain each of the others.
var unfinished = []Unfinished{
	{"am", "git am --continue", "git am --skip", "rebase-apply/applying"},
	continued(Rebase, "rebase-merge"),
	continued(Rebase, "rebase-apply"),
	{Merge, "git commit --no-edit", "git commit --no-edit", "MERGE_HEAD"},
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
	data, err := GitFile(gitDir, "sequencer/todo")
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

// ForgetRepeated removes the line that git would repeat forever from a rebase's todo list: if a hook rejects what a line has applied, git
// puts the line back. Without it the rebase continues as after a conflict. It reports whether there was such a line.
func ForgetRepeated(gitDir string) (bool, error) {
	const todo = "rebase-merge/git-rebase-todo"
	text, err := GitFile(gitDir, todo)
	if err != nil {
		return false, err
	}
	applied, err := GitFile(gitDir, "rebase-merge/stopped-sha") // a squash has no CHERRY_PICK_HEAD
	if err != nil || text == nil || applied == nil {
		return false, err
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	words := bytes.Fields(line)
	folds := len(words) > 0 && slices.Contains([]string{"fixup", "f", "squash", "s"}, string(words[0]))
	for len(words) > 1 && bytes.HasPrefix(words[1], []byte("-")) { // fixup -C
		words = words[1:]
	}
	repeated := len(words) > 1 && (bytes.HasPrefix(applied, words[1]) || bytes.HasPrefix(words[1], bytes.TrimSpace(applied)))
	if repeated && folds {
		// As git does if a squash has a conflict: the rebase continues by amending.
		err = foldInto(gitDir)
	}
	if repeated && err == nil {
		err = wholefile.Write(filepath.Join(gitDir, filepath.FromSlash(todo)), rest)
	}
	if err != nil {
		return false, &failure.Error{Message: "cannot take out of the rebase what it would repeat: " + err.Error(), Remedy: "make the git directory writable, then `small-hook restore`", Err: err}
	}
	return repeated, nil
}

// foldInto makes a rebase continue by amending its last commit.
func foldInto(gitDir string) error {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD")) // detached in a rebase
	if err == nil {
		err = wholefile.Write(filepath.Join(gitDir, "rebase-merge", "amend"), head)
	}
	return err
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
	if err == nil && !begun { // a squash leaves SQUASH_MSG
		begun, err = Exists(filepath.Join(gitDir, "SQUASH_MSG"))
	}
	switch {
	case !begun || !staged:
		return nil, err
	case u.Skip != "":
		return []string{"git commit --no-edit", u.Skip}, err
	}
	return []string{"git commit --no-edit"}, err
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
