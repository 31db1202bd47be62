package embedded

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// A look-up in the file finds what go-git finds in the whole index: of few objects and of many, near and far in the pack.
func TestFindInPackIndex(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	id := func() (id plumbing.Hash) {
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		if random.IntN(2) == 0 {
			id[0] = 7 // many ids that begin with the same byte
		}
		return id
	}
	for _, objects := range []int{0, 1, fewIDs, fewIDs + 1, 2000} {
		writer := &idxfile.Writer{}
		if err := writer.OnHeader(uint32(objects)); err != nil {
			t.Fatal(err)
		}
		ids := []plumbing.Hash{{}, plumbing.NewHash("ffffffffffffffffffffffffffffffffffffffff"), id()}
		for range objects {
			ids = append(ids, id())
			if err := writer.OnInflatedObjectContent(ids[len(ids)-1], random.Int64N(1<<33), 0, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := writer.OnFooter(plumbing.Hash{}); err != nil {
			t.Fatal(err)
		}
		whole, err := writer.Index()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := idxfile.NewEncoder(&text).Encode(whole); err != nil {
			t.Fatal(err)
		}
		x := indexFile(t, text.Bytes())
		if err := x.readFanout(); err != nil {
			t.Fatalf("%d objects: %v", objects, err)
		}
		for i, id := range ids {
			want, wantErr := whole.FindOffset(id)
			got, found, err := x.find(id)
			if err != nil || found != (wantErr == nil) || found && got != want || found != (i > 2) {
				t.Fatalf("%d objects: %s is at %d, %t, %v; want %d, %v", objects, id, got, found, err, want, wantErr)
			}
		}
		// However it is damaged, a look-up comes to an end.
		for range 40 {
			damaged := bytes.Clone(text.Bytes())
			damaged[random.IntN(len(damaged))] ^= byte(1 + random.IntN(255))
			x := indexFile(t, damaged[:len(damaged)-random.IntN(2)*random.IntN(len(damaged))])
			if x.readFanout() == nil {
				for _, id := range ids {
					if offset, found, err := x.find(id); offset < 0 || found && err != nil {
						t.Fatal(offset, found, err)
					}
				}
			}
		}
	}
}

func indexFile(t *testing.T, text []byte) *packIndex {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.idx")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return &packIndex{file: file, ReaderAt: file}
}
