package githistory

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// CheckNames fails if a path stands twice in what a tree holds, which must be
// in order of path. Such a tree is damaged or forged: programs differ in which
// of the two they take, so that there is nothing to judge. git checks none of
// this where it only reads.
func CheckNames[T history.File | history.Change](sorted []T) error {
	path := func(i int) string {
		switch at := any(sorted[i]).(type) {
		case history.File:
			return at.Path
		case history.Change:
			return at.Path
		}
		return ""
	}
	for i := 1; i < len(sorted); i++ {
		if name := path(i); name == path(i-1) {
			return &failure.Error{
				Message: fmt.Sprintf("a tree holds %s twice: the tree is corrupt", wording.Printable(name)),
				Remedy:  "see what is damaged: `git fsck`; then make the commit again",
			}
		}
	}
	return nil
}
