package githistory

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// CheckNames fails if a path occurs twice in the contents of a tree, sorted by path. Such a tree is damaged or forged: programs differ in
// which of the two they take, so it cannot be judged. When only reading, git does not check this.
func CheckNames[T any](sorted []T, path func(T) string) error {
	for i := 1; i < len(sorted); i++ {
		if name := path(sorted[i]); name == path(sorted[i-1]) {
			return &failure.Error{
				Message: fmt.Sprintf("a tree holds %s twice: the tree is corrupt", wording.Printable(name)),
				Remedy:  "see what is damaged: `git fsck`; then make the commit again",
			}
		}
	}
	return nil
}
