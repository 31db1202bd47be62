package finding

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// HiddenLog is a log on disk whose changes git was told to ignore (skip-worktree or assume-unchanged): new entries never reach a commit, and
// git status does not show them.
type HiddenLog struct {
	Path string
	// Marks are git's names for the marks that the log has in the index.
	Marks []string
	// Root is the root of its work tree; empty for the current one.
	Root string
}

// WorkTree is what is left to do in one work tree.
type WorkTree struct {
	// Path is its root.
	Path string
	// Uncommitted counts the entries that are not committed; Errors counts the findings of severity error.
	Uncommitted, Errors int
}

// Fix returns the commands that take the marks away. They use git -C, because git update-index takes a path only relative to where it runs.
func (h HiddenLog) Fix() string {
	root := `"$(git rev-parse --show-toplevel)"`
	if h.Root != "" {
		root = wording.ShellWord(h.Root)
	}
	var commands []string
	for _, mark := range h.Marks {
		commands = append(commands, "git -C "+root+" update-index --no-"+mark+" -- "+wording.ShellWord(h.Path))
	}
	return wording.Commands(commands...)
}

// Describe says what the marks do, as the rest of a sentence that begins with the path.
func (h HiddenLog) Describe() string {
	return fmt.Sprintf("is marked %s in git's index: git status does not show what is recorded there, and no commit takes it", strings.Join(h.Marks, " and "))
}

// Note returns a sentence with the path, what the marks do, and the fix.
func (h HiddenLog) Note() string {
	return wording.Printable(h.Path) + " " + h.Describe() + "; to take the mark away: " + h.Fix()
}
