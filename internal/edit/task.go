package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// warnUnknownTask warns that the plan lacks the task that an entry names, and suggests the most similar name; empty if the plan has it or cannot be
// read.
func (g *guardedWorkspace) warnUnknownTask(entry combine.NewEntry) string {
	at := slices.IndexFunc(entry, func(field [2]string) bool { return field[0] == "task_id" })
	if at < 0 || strings.HasPrefix(entry[at][1], ledger.MetaPrefix) {
		return ""
	}
	task, path := strings.TrimSpace(entry[at][1]), small.Plan.Path(g.Dir)
	data, err := workgit.ReadFile(g.Place.Top, path)
	if err != nil || data == nil {
		return ""
	}
	doc, _ := small.Parse(data, g.Limits)
	if doc == nil {
		return ""
	}
	tasks, order := read.TasksOf(doc.Root)
	if tasks[task] != nil {
		return ""
	}
	words := fmt.Sprintf("small-hook: warning: %s has no task %s", wording.Printable(path), wording.Quote(task))
	if near := policy.Suggest(task, order); near != "" {
		words += "; the nearest is " + wording.Quote(near)
	}
	return words + "\nfix: if the name is a slip, correct it in the log before you commit the entry; else add the task to the plan\n"
}
