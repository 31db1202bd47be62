package workspace

import (
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// Layout is lint/layout: .small/ holds something other than the six protocol files.
var Layout = rule.Rule{
	ID: "lint/layout", Severity: finding.SeverityError, Stage: finding.StageLint, StrictOnly: true,
	Checks: []rule.Check{rule.On(checkLayout)},
}

// checkLayout reports files and the directories above them. Only on disk can there be an empty directory.
func checkLayout(w *subject.Workspace, r *rule.Reporter) {
	reported := map[string]bool{}
	report := func(path, what string) {
		name, inside := strings.CutPrefix(path, small.InDir(w.Dir, "")+"/")
		if _, known := small.ArtifactOf(name); !inside || known && what == "" || reported[path] {
			return
		}
		reported[path] = true
		fix := "move it out of .small/"
		if top, _, _ := strings.Cut(name, "/"); top == "archive" || top == "runs" {
			fix = subject.FixLayout(w.Dir, w.Commit)
		}
		r.Add(finding.Finding{
			Path:    path,
			Message: fmt.Sprintf("%s%q is not one of the six files that belong in .small/", what, name),
			Fix:     fix,
		})
	}
	for _, f := range w.Files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			report(dir, "the directory ")
		}
		what := ""
		if f.Mode == history.ModeDirectory {
			what = "the directory "
		}
		report(f.Path, what)
	}
}
