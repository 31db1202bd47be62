package reconcile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/failure"
)

// Unfinished is something that git has begun in a work tree and not ended.
type Unfinished struct {
	// Command names it, as git's command; empty if there is nothing.
	Command string
	// Finish is the command that commits and goes on, without an editor, and Skip the one that goes on if there is nothing to commit.
	// Finish is empty if what is to be committed is not part of it.
	Finish, Skip string
	// file in the git directory says that it is under way.
	file string
}

const opRevert = "revert"

// unfinished is what can be under way, the outermost first: in a rebase there can be each of the others.
var unfinished = []Unfinished{
	{"am", "git am --continue", "git am --skip", "rebase-apply/applying"},
	continued(opRebase, "rebase-merge"),
	continued(opRebase, "rebase-apply"),
	{opMerge, "git commit --no-edit", "git commit --no-edit", "MERGE_HEAD"},
	continued(opRevert, "REVERT_HEAD"),
	continued(opPick, "CHERRY_PICK_HEAD"),
}

func continued(command, file string) Unfinished {
	return Unfinished{command, "git -c core.editor=true " + command + " --continue", "git " + command + " --skip", file}
}

// UnderWay finds what git has not finished in the work tree of a git directory. Its error is that of reading there.
func UnderWay(gitDir string) (Unfinished, error) {
	for _, u := range unfinished {
		if there, err := exists(filepath.Join(gitDir, filepath.FromSlash(u.file))); err != nil || there {
			return u, err
		}
	}
	// Of several reverts or picks, git or somebody by hand has committed one.
	todo := filepath.Join(gitDir, "sequencer", "todo")
	data, err := os.ReadFile(todo)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Unfinished{}, nil
	case err != nil:
		return Unfinished{}, &failure.Error{Message: "cannot read " + todo + ": " + err.Error(), Err: err}
	case bytes.HasPrefix(data, []byte(opRevert)):
		return Unfinished{Command: opRevert, Skip: continued(opRevert, "").Finish}, nil
	}
	return Unfinished{Command: opPick, Skip: continued(opPick, "").Finish}, nil
}

// Remedy is how to finish it, whatever directory it is typed in.
func (u Unfinished) Remedy() string {
	first := "`small-hook reconcile`"
	switch {
	case u.Finish == "":
		return "`" + u.Skip + "`"
	case u.Command == opRevert:
		first = "`git restore --source=HEAD --staged --worktree -- ':(top,glob)**/.small/**'`"
	}
	return first + ", then `" + u.Finish + "`"
}
