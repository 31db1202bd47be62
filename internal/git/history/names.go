package githistory

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// CheckNames fails if a path occurs twice among the files of a tree, which are sorted by path. Such a tree is damaged or forged. It cannot be
// judged, because programs differ in which of the two files they use. git does not check this when it reads a tree.
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
