package ledger

import (
	"crypto/sha256"

	"github.com/small-gate/small-gate/internal/small"
)

// emptyHead is the head of a ledger without entries: SHA-256 of nothing.
var emptyHead = small.Digest(sha256.Sum256(nil))

// HeadOf returns the head of a ledger with these entries.
func HeadOf(entries []small.Digest) small.Digest {
	head := emptyHead
	for _, d := range entries {
		head = nextHead(head, d)
	}
	return head
}

// nextHead returns the head after appending an entry: SHA-256 over the two digests' raw bytes.
func nextHead(previous, entry small.Digest) small.Digest {
	var both [2 * sha256.Size]byte
	copy(both[:], previous[:])
	copy(both[sha256.Size:], entry[:])
	return sha256.Sum256(both[:])
}
