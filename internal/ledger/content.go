package ledger

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// ContentDigest is the digest of an entry without its time.
func ContentDigest(entry *small.Value) small.Digest {
	content := *entry
	content.Fields = slices.DeleteFunc(slices.Clone(entry.Fields), func(f small.Field) bool { return f.Named() && f.Key == "timestamp" })
	return small.EntryDigest(&content)
}
