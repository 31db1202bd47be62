package githistory

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Format describes the object ids of a repository; they depend on its hash function.
type Format struct {
	idLength  int    // hexadecimal digits of an object id
	EmptyTree string // id of the tree without entries
	emptyBlob string // id of the blob without bytes
}

// ID returns the id of an object.
func (f Format) ID(kind string, data []byte) string { return history.ObjectID(kind, data, f.EmptyTree) }

// SHA1 is the format of most repositories.
var SHA1 = newFormat(sha1.Size)

// formatsByName are the object formats by git's names for them.
var formatsByName = map[string]Format{"sha1": SHA1, "sha256": newFormat(sha256.Size)}

// newFormat returns the format whose hashes have size bytes.
func newFormat(size int) Format {
	like := strings.Repeat("0", 2*size)
	return Format{idLength: len(like), EmptyTree: history.ObjectID("tree", nil, like), emptyBlob: history.BlobID(nil, like)}
}

// Valid reports whether s is a full object id as git writes it. Only full ids are passed to git, because git could read a shorter one as an
// abbreviation.
func (f Format) Valid(s string) bool { return len(s) == f.idLength && history.IsHex(s) }

// Check fails if one of the ids is not Valid.
func (f Format) Check(ids ...string) error {
	for _, id := range ids {
		if !f.Valid(id) {
			return &failure.Error{Message: fmt.Sprintf("%q is not a full object id of this repository", id)}
		}
	}
	return nil
}
