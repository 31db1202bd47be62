package workgit

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/git/state"
)

// ForgetRepeated removes from a rebase's todo list the line that git would repeat forever: if a hook rejects the commit that a line makes, git puts
// the line back. Without the line, the rebase continues as after a conflict. ForgetRepeated reports whether there was such a line.
func ForgetRepeated(gitDir string) (bool, error) {
	const todo = "rebase-merge/git-rebase-todo"
	text, err := state.ReadFile(gitDir, todo)
	if err != nil {
		return false, err
	}
	applied, err := state.ReadFile(gitDir, "rebase-merge/stopped-sha") // a squash has no CHERRY_PICK_HEAD
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
		// The rebase then continues by amending, as git makes it do after a conflict in a squash.
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
