package run

import (
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// NotePolicy notes that a commit edits the configuration. A merge does if its configuration differs from each
// parent's. The index is compared with HEAD alone, whose configuration is the trusted one. In a whole history
// edits of the configuration are no change.
func (s *Scope) NotePolicy(n history.Commit, changes [][]history.Change) {
	if s.Whole {
		return
	}
	if n.ID == history.Index {
		changes = changes[:1]
	}
	var edit history.Change
	for _, edge := range changes {
		at := slices.IndexFunc(edge, func(c history.Change) bool { return c.Path == policy.File })
		if at < 0 {
			return
		}
		edit = edge[at]
	}
	s.PolicyChange = edit
}
