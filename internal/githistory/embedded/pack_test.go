package embedded

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/small-gate/small-gate/internal/smalltest"
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
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestHeader demands of the headers of random entries what go-git's scanner reads, sizes and distances of any length among them.
func TestHeader(t *testing.T) {
	t.Parallel()
	read := map[plumbing.ObjectType]int{}
	const at = 200_000 // a distance leads back from here
	file, err := os.Create(filepath.Join(t.TempDir(), "pack"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &pack{file: file, stored: bufio.NewReader(nil)}
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		for range 20 {
			text := randomBytes(r, 1+r.IntN(40))
			if err := file.Truncate(at); err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt(text, at); err != nil {
				t.Fatal(err)
			}
			got, gotErr := p.header(at)
			want, wantErr := packfile.NewScanner(file).SeekObjectHeader(at)
			switch {
			case gotErr == nil && wantErr == nil && got == header{want.Type, want.Length, want.OffsetReference, want.Reference}:
				read[got.kind]++
			case gotErr == nil && (got.base < 0 || got.base == at): // entryAt refuses it
			case gotErr != nil && (wantErr != nil || want.Length < 0 || want.Length >= maxPack):
			default:
				t.Fatalf("%x: %+v, %v; go-git: %+v, %v", text, got, gotErr, want, wantErr)
			}
		}
	}
	if len(read) != 8 { // two of which no entry may be
		t.Errorf("not every kind was read: %v", read)
	}
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

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}
