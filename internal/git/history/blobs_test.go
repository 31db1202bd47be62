package githistory_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

func TestBlob(t *testing.T) { eachReader(t, testBlob) }

func testBlob(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	text := "line\nwith no end, \x00 and 0123456789012345678901234567890123456789 missing\n\n"
	commit := r.CommitFile("f", text)
	r.CommitFile("empty", "")
	id, empty := r.ID("HEAD:f"), r.ID("HEAD:empty")
	repo := rd.open(t, r)
	size := int64(len(text))
	for _, tt := range []struct {
		id    string
		limit int64
		want  history.Blob
	}{
		{id, size, history.Blob{Size: size, Data: []byte(text)}},
		{id, size + 1, history.Blob{Size: size, Data: []byte(text)}},
		{id, size - 1, history.Blob{Size: size}},
		{id, 0, history.Blob{Size: size}},
		{empty, 0, history.Blob{Data: []byte{}}},
	} {
		got, err := repo.Blob(t.Context(), tt.id, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, tt.want, got)
	}

	_, err := repo.Blob(t.Context(), commit, 1000)
	wantFailure(t, err, commit, "is a commit, not a blob")
	_, err = repo.Blob(t.Context(), strings.Repeat("ef", 20), 1000)
	wantFailure(t, err, "cannot be read", "git fsck")
	for _, bad := range []string{"", "HEAD", "HEAD:f", id[:10], id + "\n" + id, "-x"} {
		_, err = repo.Blob(t.Context(), bad, 1000)
		wantFailure(t, err, "not a full object id")
	}
	// The process survived all of that.
	if got := content(t, repo, id); got != text {
		t.Errorf("the blob is %q", got)
	}
}

func TestBlobOfADamagedObject(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testBlobOfADamagedObject)
}

func testBlobOfADamagedObject(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("f", strings.Repeat("some text\n", 1000))
	r.CommitFile("g", "whole")
	damaged, whole := r.ID("HEAD:f"), r.ID("HEAD:g")
	name := r.Path(".git/objects/" + damaged[:2] + "/" + damaged[2:])
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil { // it is read-only
		t.Fatal(err)
	}
	another, err := os.ReadFile(r.Path(".git/objects/" + whole[:2] + "/" + whole[2:]))
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range [][]byte{data[:len(data)/2], {}, []byte("nonsense"), another} {
		if err := os.WriteFile(name, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		repo := rd.open(t, r)
		_, err = repo.Blob(t.Context(), damaged, 1<<20)
		wantFailure(t, err, damaged)
		if got := content(t, repo, whole); got != "whole" {
			t.Errorf("the other blob is %q", got)
		}
	}
}

// An object above the limit is read but not held: reading 64 MB must allocate less than a tenth of that.
func TestBlobAboveTheLimitIsNotHeld(t *testing.T) { eachReader(t, testBlobAboveTheLimitIsNotHeld) }

func testBlobAboveTheLimitIsNotHeld(t *testing.T, rd reader) {
	gittest.Long(t)
	r := gittest.New(t)
	const size = 64 << 20
	r.CommitFile("huge", strings.Repeat("0123456789abcde\n", size/16))
	id := r.ID("HEAD:huge")
	repo := rd.open(t, r)
	content(t, repo, r.GitInput("small", "hash-object", "-w", "--stdin"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := repo.Blob(t.Context(), id, 16<<20)
	runtime.ReadMemStats(&after)
	if err != nil || got.Data != nil || got.Size != size {
		t.Errorf("Blob = %d bytes of %d, %v", len(got.Data), got.Size, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > size/10 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestBlobConcurrently(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testBlobConcurrently)
}

func testBlobConcurrently(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, r.GitInput(fmt.Sprint(i), "hash-object", "-w", "--stdin"))
	}
	repo := rd.open(t, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, id := range ids {
				blob, err := repo.Blob(t.Context(), id, 10)
				if err != nil || !bytes.Equal(blob.Data, fmt.Append(nil, i)) {
					t.Errorf("Blob = %q, %v, want %d", blob.Data, err, i)
				}
			}
		})
	}
	wg.Wait()
}
