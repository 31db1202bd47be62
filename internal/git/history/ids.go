package githistory

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Format describes the object ids of a repository; they depend on its hash function.
type Format struct {
	idLength  int    // hexadecimal digits of an object id
	EmptyTree string // id of the tree without entries
	emptyBlob string // id of the blob without bytes
	newHash   func() hash.Hash
}

// ID returns the id of an object: the hash of a header and the content (git's documentation, "Git Internals - Git Objects").
func (f Format) ID(kind string, data []byte) string {
	h := f.newHash()
	h.Write(fmt.Appendf(nil, "%s %d\x00", kind, len(data)))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// SHA1 is the format of most repositories.
var SHA1 = newFormat(sha1.New)

// formatsByName are the object formats by git's names for them.
var formatsByName = map[string]Format{"sha1": SHA1, "sha256": newFormat(sha256.New)}

func newFormat(sum func() hash.Hash) Format {
	f := Format{newHash: sum}
	f.emptyBlob, f.EmptyTree = f.ID("blob", nil), f.ID("tree", nil)
	f.idLength = len(f.EmptyTree)
	return f
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
