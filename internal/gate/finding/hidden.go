package finding

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// HiddenLog is a log on disk whose changes git was told to leave out: what is recorded there never reaches a commit, and git status is
// clean.
type HiddenLog struct {
	Path string
	// Marks are git's names of the marks that the log has in the index.
	Marks []string
	// Root is the root of its work tree; empty for the one in which the reader is.
	Root string
}

// WorkTree is what is left to do in one work tree.
type WorkTree struct {
	// Path is its root.
	Path string
	// Uncommitted counts the entries that are not committed, Errors the errors.
	Uncommitted, Errors int
}

// Fix has the commands that take the marks away. git update-index takes a path only relative to where it runs.
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

// What says what the marks do.
func (h HiddenLog) What() string {
	return fmt.Sprintf("is marked %s in git's index: git status does not show what is recorded there, and no commit takes it", strings.Join(h.Marks, " and "))
}

// Note is all of that in one sentence.
func (h HiddenLog) Note() string {
	return wording.Printable(h.Path) + " " + h.What() + "; to take the mark away: " + h.Fix()
}
