package embedded

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// forgedPack writes a pack of deltas, each of another id, and its index.
func forgedPack(t *testing.T, deltas []byte, bases map[plumbing.Hash]plumbing.Hash) *pack {
	t.Helper()
	var content bytes.Buffer
	content.WriteString("PACK\x00\x00\x00\x02")
	content.Write(binary.BigEndian.AppendUint32(nil, uint32(len(bases))))
	index := &idxfile.Writer{}
	if err := index.OnHeader(uint32(len(bases))); err != nil {
		t.Fatal(err)
	}
	for id, base := range bases {
		if err := index.OnInflatedObjectContent(id, int64(content.Len()), 0, nil); err != nil {
			t.Fatal(err)
		}
		content.WriteByte(byte(plumbing.REFDeltaObject)<<4 | byte(len(deltas)))
		content.Write(base[:])
		z := zlib.NewWriter(&content)
		if _, err := z.Write(deltas); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sum := plumbing.Hash(sha1.Sum(content.Bytes()))
	content.Write(sum[:])
	if err := index.OnFooter(sum); err != nil {
		t.Fatal(err)
	}
	memory, err := index.Index()
	if err != nil {
		t.Fatal(err)
	}
	var idx bytes.Buffer
	if _, err := idxfile.NewEncoder(&idx).Encode(memory); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "pack-x")
	for ext, data := range map[string][]byte{".pack": content.Bytes(), ".idx": idx.Bytes()} {
		if err := os.WriteFile(name+ext, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := openPack(name, 0, cache.NewBufferLRU(cacheSize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// What a delta yields is found out before it is made, and deltas that go round in
// a circle come to an end.
func TestForgedDeltas(t *testing.T) {
	t.Parallel()
	one, two := plumbing.NewHash(strings.Repeat("1", 40)), plumbing.NewHash(strings.Repeat("2", 40))
	for what, bases := range map[string]map[plumbing.Hash]plumbing.Hash{
		"itself":  {one: one},
		"circle":  {one: two, two: one},
		"nowhere": {one: two},
	} {
		p := forgedPack(t, []byte{5, 5}, bases)
		if o, found, err := p.read(one, 100); err == nil || found {
			t.Errorf("%s: %+v", what, o)
		}
	}
	// A delta that claims more bytes than a number can count.
	p := forgedPack(t, append(bytes.Repeat([]byte{0xff}, 10), 0x7f), map[plumbing.Hash]plumbing.Hash{one: two})
	if o, found, err := p.read(one, 100); err == nil || found {
		t.Errorf("%+v", o)
	}
}
