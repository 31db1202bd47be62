package embedded

import (
	"encoding/hex"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
)

// This reader knows sha1 only.
const (
	idSize   = len(plumbing.Hash{})
	idDigits = 2 * idSize // as text
)

// isID reports whether s is a full object id as git writes it.
func isID(s string) bool { return len(s) == idDigits && githistory.IsHex(s) }

// parseID takes nothing but full ids.
func parseID(s string) (id plumbing.Hash, err error) {
	if !isID(s) {
		return id, &failure.Error{Message: fmt.Sprintf("%q is not a full object id of this repository", s)}
	}
	_, err = hex.Decode(id[:], []byte(s))
	return id, err
}
