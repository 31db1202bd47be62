package embedded

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/small-gate/small-gate/internal/smalltest"
)

// patchesBothWays demands of patch what go-git makes of a delta.
func patchesBothWays(t testing.TB, base, delta []byte) (patched bool) {
	t.Helper()
	_, n := binary.Uvarint(delta)
	claimed, m := binary.Uvarint(delta[max(n, 0):])
	size := int64(min(claimed, 1<<20))
	got, err := patch(base, delta, size)
	want, wantErr := packfile.PatchDelta(base, delta)
	if n <= 0 || m <= 0 {
		wantErr = packfile.ErrInvalidDelta // go-git passes over where a number should go on
	}
	if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
		t.Fatalf("delta %x of %q: %q, %v; go-git: %q, %v", delta, base, got, err, want, wantErr)
	}
	if isFront(got, base) && 2*len(got) < cap(base)-1 {
		t.Fatalf("%d bytes keep %d", len(got), cap(base))
	}
	if _, err := patch(base, delta, size+1); err == nil {
		t.Fatalf("delta %x: another size than it says is made", delta)
	}
	return err == nil
}

// TestPatch applies deltas between random texts, and damaged ones.
func TestPatch(t *testing.T) {
	patched, refused := 0, 0
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		base := randomBytes(r, 1+r.IntN(100_000))
		target := append(bytes.Clone(base[r.IntN(len(base)):]), randomBytes(r, r.IntN(300))...)
		delta := packfile.DiffDelta(base, target)
		if !patchesBothWays(t, base, delta) {
			t.Fatalf("seed %d: a delta cannot be applied", seed)
		}
		for range 10 {
			damaged := bytes.Clone(delta)
			damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			if patchesBothWays(t, base, damaged[:len(damaged)-r.IntN(2)]) {
				patched++
			} else {
				refused++
			}
		}
	}
	if patched == 0 || refused == 0 {
		t.Errorf("%d damaged deltas could be applied, %d not", patched, refused)
	}
}

// isFront reports whether a text is in the same memory as the one that it begins.
func isFront(text, of []byte) bool { return len(text) > 0 && len(of) > 0 && &text[0] == &of[0] }

// TestPatchFront shortens a log again and again: an earlier version shares the later one's memory, until it would keep too much of it.
func TestPatchFront(t *testing.T) {
	shared, copies := 0, 0
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		base := randomBytes(r, 1000+r.IntN(100_000))
		for len(base) > 100 {
			earlier := base[:len(base)-r.IntN(len(base)*2/3)]
			delta := packfile.DiffDelta(base, earlier)
			if !patchesBothWays(t, base, delta) {
				t.Fatalf("seed %d: a delta cannot be applied", seed)
			}
			got, err := patch(base, delta, int64(len(earlier)))
			if err != nil {
				t.Fatal(err)
			}
			if isFront(got, base) {
				shared++
			} else {
				copies++
			}
			base = got
		}
		// The front twice, and from the second byte on, are no fronts.
		for _, delta := range [][]byte{{4, 4, 0x90, 2, 0x90, 2}, {4, 3, 0x91, 1, 3}} {
			base := []byte("base")
			if !patchesBothWays(t, base, delta) || front(base, delta[2:]) != nil {
				t.Errorf("delta %x", delta)
			}
		}
	}
	if shared < copies || copies == 0 {
		t.Errorf("%d fronts share memory, and %d do not", shared, copies)
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// FuzzPatch is TestPatch for any bytes.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("base"), packfile.DiffDelta([]byte("base"), []byte("the base")))
	f.Add([]byte("base"), []byte{4, 4, 0x91, 0, 4})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if len(base) > 0 {
			patchesBothWays(t, base, delta)
		}
	})
}
