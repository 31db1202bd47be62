package gate

import (
	"fmt"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleLayout = Rule{
	ID: "lint/layout", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Checks: []RuleCheck{On(checkLayout)},
}

// checkLayout reports files, and every directory on the way to one. An empty
// directory is a finding on disk alone, since git records none.
func checkLayout(w *Workspace, r *Reporter) {
	reported := map[string]bool{}
	report := func(path, what string) {
		name, inside := strings.CutPrefix(path, small.InDir(w.Dir, "")+"/")
		if _, known := small.ArtifactOf(name); !inside || known && what == "" || reported[path] {
			return
		}
		reported[path] = true
		r.Add(Finding{
			Path:    path,
			Message: fmt.Sprintf("%q is %snone of the six files that belong in .small/", name, what),
			Fix:     "move it out of .small/",
		})
	}
	for _, f := range w.Files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			report(dir, "a directory, and ")
		}
		what := ""
		if f.Mode == modeDirectory {
			what = "a directory, and "
		}
		report(f.Path, what)
	}
}
