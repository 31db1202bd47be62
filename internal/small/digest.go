package small

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is a SHA-256 value: of an entry, or of a ledger's head.
type Digest [sha256.Size]byte

const digestPrefix = "sha256:"

// String writes the digest as "sha256:" and 64 lower-case hex digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// ParseDigest reads what String writes.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	raw, found := strings.CutPrefix(s, digestPrefix)
	if !found || len(raw) != hex.EncodedLen(len(d)) || raw != strings.ToLower(raw) {
		return d, fmt.Errorf("%q is not %s followed by 64 lower-case hex digits", s, digestPrefix)
	}
	if _, err := hex.Decode(d[:], []byte(raw)); err != nil {
		return d, fmt.Errorf("%q is not %s followed by 64 lower-case hex digits", s, digestPrefix)
	}
	return d, nil
}

// MarshalText is String, for JSON.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDigest.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDigest(string(text))
	return err
}

// EntryDigest returns the SHA-256 of an entry's canonical JSON. Key order, quoting,
// comments, indentation, line endings, anchors and merge keys do not change
// it; any change of a value does, white space inside a string included.
func EntryDigest(entry *Value) Digest { return new(Digester).EntryDigest(entry) }

// Digester computes the digests of many entries.
type Digester struct{ canonical []byte }

// EntryDigest is the function [EntryDigest], with reused memory.
func (d *Digester) EntryDigest(entry *Value) Digest {
	d.canonical = appendCanonical(d.canonical[:0], entry)
	return sha256.Sum256(d.canonical)
}
