package subject

import (
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// BeginRun are the commands that begin a new run in the workspace of a directory, after the commit that is judged, in the index, or on
// disk.
func BeginRun(dir, commit string) string {
	at := ""
	if dir != "" {
		at = " --dir " + wording.ShellWord(dir)
	}
	text := "`small-hook replay-id --write" + at + "`"
	if commit != "" {
		text += ", `git add -- " + wording.ShellWord(small.Handoff.Path(dir)) + " " + wording.ShellWord(small.Workspace.Path(dir)) + "`"
	}
	if commit != "" && commit != history.Index {
		text += ", `git commit -m \"Begin a new run\"`"
	}
	return text
}
