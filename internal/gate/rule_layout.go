package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleLayout = Rule{
	ID: "lint/layout", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary:  "something else than the six protocol files lies in .small/",
	Snapshot: checkLayout,
}

func checkLayout(w *Workspace, r *reporter) {
	for _, f := range w.Files {
		_, name, _ := small.SplitPath(f.Path)
		if _, known := small.ArtifactOf(name); known || name == "" {
			continue
		}
		r.add(Finding{
			Path:    f.Path,
			Message: fmt.Sprintf("%q is none of the six files that belong in .small/", name),
			Fix:     "move it out of .small/",
		})
	}
}
