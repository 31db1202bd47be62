package appendonly

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/rule"
)

// checkDraftEdit reports a commit that edits an entry which only its branch has.
func checkDraftEdit(d *logs.DraftEdit, r *rule.Reporter) {
	did := "edits"
	if d.Dropped {
		did = "drops"
	}
	r.Add(finding.Finding{
		Path: d.Path, Line: 1, Subject: "draft",
		Edits:   []finding.EditKey{{Path: d.Path + "\x00draft", To: d.Object}},
		Message: fmt.Sprintf("this commit %s an entry that an earlier commit of the branch added; the branch as a whole may land, but not commit by commit", did),
		Fix:     "land the branch by a squash or a merge commit, or fold this commit into the earlier one",
	})
}
