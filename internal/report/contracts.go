package report

import (
	"fmt"

	changes "github.com/small-gate/small-gate/internal/lane"
)

// jsonContract is a contract file that a campaign's child names of the repository
// of another child.
type jsonContract struct {
	Path       string `json:"path"`
	Line       int    `json:"line"`
	Child      string `json:"child"`
	Repository string `json:"repository"`
	File       string `json:"file"`
	Of         string `json:"of"`
}

func (t *text) contracts(list []changes.CrossContract) {
	for i, c := range list {
		if i == maxWaived {
			t.line("… and more contracts; ", t.where)
			return
		}
		t.line(fmt.Sprintf("contract: %s:%d: %q relies on %q of the repository %q, in which %q works",
			clip(c.Path, maxName), c.Line, clip(c.Child, maxName), clip(c.File, maxName), clip(c.Repository, maxName), clip(c.Of, maxName)))
	}
}
