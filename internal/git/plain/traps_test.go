package plain

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// The tests below are about defects of go-git that would lead to a wrong answer.

// packIndex is the path of the only pack's index.
func packIndex(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	found, err := filepath.Glob(r.Path(".git/objects/pack/*.idx"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// rewrite changes a file that may be read-only.
func rewrite(t *testing.T, name string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.Remove(name)
	}
	if err == nil {
		err = os.WriteFile(name, change(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// go-git takes every object for a missing one when it reads a damaged index of a pack for the second time.
func TestDamagedPackIndexIsReadTwice(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	rewrite(t, packIndex(t, r), func(data []byte) []byte {
		data[len(data)-1] ^= 1
		return data
	})
	head := r.ID("HEAD")
	repo := open(t, r)
	for range 3 {
		_, err := repo.Commits(t.Context(), []string{head}, nil)
		wantUnserved(t, err, "malformed IDX")
		_, here, err := repo.Peel(t.Context(), someID)
		wantUnserved(t, err, "malformed IDX")
		if !here {
			t.Error("an object is said to be missing")
		}
	}
}

// go-git takes an object for a missing one if it cannot find out where in the pack it is.
func TestDamagedOffsetInAPackIndex(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	head := r.ID("HEAD")
	rewrite(t, packIndex(t, r), func(data []byte) []byte {
		const header, fanout = 8, 4 * 256
		n := int(binary.BigEndian.Uint32(data[header+fanout-4:]))
		names := data[header+fanout:]
		id := plumbing.NewHash(head)
		at, found := bytes.Index(names, id[:])/idSize, bytes.Contains(names, id[:])
		if !found {
			t.Fatal("the index does not list HEAD")
		}
		offsets := names[n*(idSize+4):] // behind the names and the checksums
		binary.BigEndian.PutUint32(offsets[4*at:], 1<<31|7)
		// A table of large offsets has one entry, and not the seventh.
		trailer := len(data) - 2*idSize
		data = slices.Insert(data, trailer, make([]byte, 8)...)
		sum := sha1.Sum(data[:len(data)-idSize])
		return append(data[:len(data)-idSize], sum[:]...)
	})
	if out, err := r.Try("cat-file", "-t", head); err == nil {
		t.Errorf("git says %q", out)
	}
	repo := open(t, r)
	for range 2 {
		commit, here, err := repo.Peel(t.Context(), head)
		if err == nil {
			t.Errorf("Peel = %q, %v, and no error", commit, here)
		}
		wantUnserved(t, err, "offset64")
	}
}

// A pack that go-git has listed but not opened yet can be repacked before it is needed.
func TestRepackBeforeAPackIsOpened(t *testing.T) {
	t.Parallel()
	r := versions(t)
	r.Git("repack", "-q", "-a", "-d")
	old := r.ID("HEAD")
	fresh := r.CommitFile("other", "new")
	r.Git("repack", "-q", "-d")
	repo := open(t, r)
	if _, here, err := repo.Peel(t.Context(), fresh); err != nil || !here {
		t.Fatal(here, err)
	}
	r.Git("repack", "-q", "-a", "-d")
	for _, id := range []string{old, fresh} {
		if _, here, err := repo.Peel(t.Context(), id); err != nil || !here {
			t.Errorf("%s: %v, %v", id, here, err)
		}
	}
}

// packed is an object of a pack: its type in the pack, and what is before its compressed content.
type packed struct {
	id      string
	kind    byte
	header  []byte
	content []byte
}

// writePack writes a pack of any objects, and its index.
func writePack(t *testing.T, r *gittest.Repo, objects ...packed) {
	t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(objects)))
	offsets := map[string]uint32{}
	for _, o := range objects {
		offsets[o.id] = uint32(len(pack))
		size := len(o.content)
		pack = append(pack, 0x80|o.kind<<4|byte(size&15), byte(size>>4))
		pack = append(pack, o.header...)
		var data bytes.Buffer
		z := zlib.NewWriter(&data)
		if _, err := z.Write(o.content); err != nil || size>>4 > 127 {
			t.Fatal(err, size)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		pack = append(pack, data.Bytes()...)
	}
	sum := sha1.Sum(pack)
	slices.SortFunc(objects, func(a, b packed) int { return strings.Compare(a.id, b.id) })
	index := []byte("\xfftOc\x00\x00\x00\x02")
	for first := range 256 {
		n := uint32(0)
		for _, o := range objects {
			if int(plumbing.NewHash(o.id)[0]) <= first {
				n++
			}
		}
		index = binary.BigEndian.AppendUint32(index, n)
	}
	var checks, places []byte
	for _, o := range objects {
		id := plumbing.NewHash(o.id)
		index = append(index, id[:]...)
		checks = append(checks, 0, 0, 0, 0)
		places = binary.BigEndian.AppendUint32(places, offsets[o.id])
	}
	index = slices.Concat(index, checks, places, sum[:])
	indexSum := sha1.Sum(index)
	name := ".git/objects/pack/pack-" + hex.EncodeToString(sum[:])
	r.Write(name+".pack", string(pack)+string(sum[:]))
	r.Write(name+".idx", string(index)+string(indexSum[:]))
}

const circle = "SMALL_GATE_TEST_CIRCLE"

// Deltas that are based on each other make go-git call itself without end. That ends the process with status 2, which hooks use for "could
// not judge".
func TestDeltasInACircle(t *testing.T) {
	gittest.Long(t)
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	if dir := os.Getenv(circle); dir != "" { // in the process that the test starts
		repo, err := Open(t.Context(), dir, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		_, here, err := repo.Peel(t.Context(), one)
		t.Fatalf("Peel = %v, %v", here, err)
	}
	t.Parallel()
	base := func(id string) []byte {
		hash := plumbing.NewHash(id)
		return hash[:]
	}
	const byID, byOffset = 7, 6
	small := []byte{8, 8, 0x90, 8}                            // a delta that copies 8 bytes
	large := []byte{0x80, 0x80, 4, 0x80, 0x80, 4, 0xb0, 0, 0} // and one for 64 KiB, which go-git reads in another way
	for what, delta := range map[string][]byte{"small": small, "large": large} {
		t.Run(what, func(t *testing.T) {
			r := gittest.New(t)
			writePack(t, r, packed{one, byID, base(two), delta}, packed{two, byID, base(one), delta})
			cmd := exec.Command(os.Args[0], "-test.run=^TestDeltasInACircle$")
			cmd.Env = append(r.Environ(), circle+"="+r.Dir)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || !bytes.Contains(out, []byte("stack overflow")) {
				t.Errorf("%v\n%.300s", err, out)
			}
		})
	}
	r := gittest.New(t)
	writePack(t, r, packed{one, byOffset, []byte{0}, small})
	_, here, err := open(t, r).Peel(t.Context(), one)
	wantUnserved(t, err, "invalid OFS delta offset")
	if !here {
		t.Error("the object is said to be missing")
	}
}
