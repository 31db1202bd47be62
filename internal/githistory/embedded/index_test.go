package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	oracle "github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gittest"
)

func anyPath([]byte) bool { return true }

func decodeBytes(data []byte) (*index, error) {
	return decodeIndex(bytes.NewReader(data), int64(len(data)), anyPath)
}

// lines is one line for each entry of an index.
func lines(x *index) []string {
	var out []string
	for _, e := range x.entries {
		out = append(out, fmt.Sprintf("%06o %s %d %s", uint32(e.mode), e.id, e.stage, e.path))
	}
	return out
}

// The library's decoder and git itself read the same of an index.
func TestIndexOfEveryVersion(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var input strings.Builder
	object := r.GitInput("1", "hash-object", "-w", "--stdin")
	for i := range 1500 { // so that it is looked at in several pieces
		fmt.Fprintf(&input, "100644 %s\tdir%d/%s%d\x00", object, i%7, strings.Repeat("x", i%300), i)
	}
	long := strings.Repeat("long/", 900) + "name"
	fmt.Fprintf(&input, "100755 %s\t%s\x00120000 %s\tlink\x00160000 %s\tmodule\x00", object, long, object, object)
	for stage := range 3 {
		fmt.Fprintf(&input, "100644 %s %d\tconflict\x00", object, stage+1)
	}
	r.GitInput(input.String(), "update-index", "-z", "--index-info")
	for _, version := range []string{"2", "3"} {
		r.Git("update-index", "--index-version="+version)
		if version != "2" {
			r.Git("update-index", "--skip-worktree", "link")
		}
		data, err := os.ReadFile(r.Path(".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		x, err := decodeBytes(data)
		if err != nil {
			t.Fatalf("version %s: %v", version, err)
		}
		var want []string
		for line := range strings.SplitSeq(strings.TrimSuffix(r.Git("ls-files", "-s", "-z"), "\x00"), "\x00") {
			want = append(want, strings.Replace(line, "\t", " ", 1))
		}
		if diff := cmp.Diff(want, lines(x)); diff != "" {
			t.Errorf("version %s (-git +embedded)\n%s", version, diff)
		}
		compareWithLibrary(t, data, x)
	}
}

// A path that is longer than any system has it is left to git.
func TestIndexWithALongPath(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	object := r.GitInput("1", "hash-object", "-w", "--stdin")
	for size, served := range map[int]bool{maxEntry - entryHead - 2: true, 2 * indexWindow: false} {
		r.GitInput("100644 "+object+"\t"+strings.Repeat("x", size)+"\x00", "update-index", "-z", "--index-info")
		data, err := os.ReadFile(r.Path(".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		if x, err := decodeBytes(data); served != (err == nil) || served && len(x.entries[0].path) != size || !served && !errors.Is(err, ErrUnserved) {
			t.Errorf("%d: %v", size, err)
		}
		r.Git("read-tree", "--empty")
	}
}

// compareWithLibrary compares with what go-git reads.
func compareWithLibrary(t *testing.T, data []byte, x *index) {
	t.Helper()
	var theirs oracle.Index
	if err := oracle.NewDecoder(bytes.NewReader(data)).Decode(&theirs); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range theirs.Entries {
		if !e.IntentToAdd {
			want = append(want, fmt.Sprintf("%06o %s %d %s", uint32(e.Mode), e.Hash, e.Stage, e.Name))
		}
	}
	if diff := cmp.Diff(want, lines(x)); diff != "" {
		t.Errorf("(-go-git +embedded)\n%s", diff)
	}
}

func TestIndexWithoutSum(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("f", "1")
	data, err := os.ReadFile(r.Path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)-idSize:], make([]byte, idSize)) // index.skipHash
	if x, err := decodeBytes(data); err != nil || len(x.entries) != 1 || x.trees[""].IsZero() {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a/b", "1")
	r.Write("c", "1")
	r.Commit("x")
	data, err := os.ReadFile(r.Path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(data) {
		// Where only what the index remembers besides is missing, it is whole.
		if x, err := decodeBytes(data[:i]); err == nil && len(x.entries) != 2 {
			t.Errorf("the first %d of %d bytes were taken", i, len(data))
		}
	}
	for what, replace := range map[string][2]string{
		"version":   {"DIRC\x00\x00\x00\x02", "DIRC\x00\x00\x00\x04"},
		"extension": {"TREE", "tREE"},
		"split":     {"TREE", "link"},
	} {
		_, err := decodeBytes(bytes.Replace(data, []byte(replace[0]), []byte(replace[1]), 1))
		if !errors.Is(err, ErrUnserved) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, replace := range map[string][2]string{
		"signature":   {"DIRC", "DIRX"},
		"mode":        {"\x00\x00\x81\xa4", "\x00\x00\x81\xff"},
		"no name":     {"\x00\x01c\x00", "\x00\x00\x00\x00"},
		"cached tree": {"-1 ", "x1 "},
	} {
		damaged := bytes.Replace(data, []byte(replace[0]), []byte(replace[1]), 1)
		if what == "cached tree" {
			damaged = bytes.Replace(data, []byte("\x002 1\n"), []byte("\x00x 1\n"), 1)
		}
		if bytes.Equal(damaged, data) {
			t.Errorf("%s: nothing was damaged", what)
		}
		if _, err := decodeBytes(damaged); !errors.Is(err, errIndex) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzIndex(f *testing.F) {
	for _, version := range []string{"2", "3"} {
		r := gittest.New(f)
		r.Write("a/.small/x", "1")
		r.Write("c", "1")
		r.Commit("x")
		r.Write("new", "1")
		r.Git("add", "-N", "new")
		r.Git("update-index", "--index-version="+version)
		data, err := os.ReadFile(r.Path(".git/index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := decodeBytes(data)
		if err != nil {
			return
		}
		for _, e := range x.entries {
			if e.path == "" || e.isDir() {
				t.Errorf("an entry %+v", e)
			}
		}
	})
}
