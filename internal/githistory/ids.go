package githistory

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// format is what depends on the repository's hash function.
type format struct {
	idLength  int    // hexadecimal digits of an object id
	emptyTree string // id of the tree without entries
	emptyBlob string // id of the blob without bytes
	// sum is the hash function over all that is written to it.
	sum func() hash.Hash
}

// blobID is the id of a blob (git's documentation, "Git Internals - Git
// Objects": the hash of a header and the content).
func (f format) blobID(data []byte) string {
	h := f.sum()
	h.Write(fmt.Appendf(nil, "blob %d\x00", len(data)))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// formats are git's object formats, by the name that git gives them.
var formats = map[string]format{"sha1": newFormat(sha1.New), "sha256": newFormat(sha256.New)}

func newFormat(sum func() hash.Hash) format {
	f := format{sum: sum}
	f.emptyBlob = f.blobID(nil)
	tree := sum()
	tree.Write([]byte("tree 0\x00"))
	f.emptyTree = hex.EncodeToString(tree.Sum(nil))
	f.idLength = len(f.emptyTree)
	return f
}

// valid reports whether s is a full object id as git writes it. Nothing else
// is ever sent to git as one: a shorter id could be taken for an abbreviation.
func (f format) valid(s string) bool { return len(s) == f.idLength && history.IsHex(s) }

// check rejects ids that are not full.
func (f format) check(ids ...string) error {
	for _, id := range ids {
		if !f.valid(id) {
			return &failure.Error{Message: fmt.Sprintf("%q is not a full object id of this repository", id)}
		}
	}
	return nil
}
