package gate

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/small"
)

var ruleLayout = Rule{
	ID: "lint/layout", Severity: SeverityError, Stage: StageLint, StrictOnly: true,
	Summary: "something else than the six protocol files lies in .small/",
	Why: `Tools treat .small/ as theirs: they know six files there and may tidy away the rest. Another file in
it is read by nobody who follows the protocol, may vanish without a word, and lets a second,
unofficial plan grow beside the real one. Notes, drafts, backups of editors and outputs of tools end
up there by habit. Move the file elsewhere, or delete it.`,
	Wrong: `
-- .small/notes.md --
Ask whether the export has a header line.
`,
	Right: `
-- docs/importer-notes.md --
Ask whether the export has a header line.
`,
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
