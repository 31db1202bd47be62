package plain

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// The index is listed as git lists it, in every version, and its tree is the one that git would write.
func TestIndexOfEveryVersion(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	r := gittest.New(t)
	var input strings.Builder
	object := r.GitInput("1", "hash-object", "-w", "--stdin")
	for i := range 1500 {
		fmt.Fprintf(&input, "100644 %s\tdir%d/%s%d\x00", object, i%7, strings.Repeat("x", i%250), i)
	}
	long := strings.Repeat("long/", 900) + "name"
	fmt.Fprintf(&input, "100755 %s\t%s\x00120000 %s\tlink\x00160000 %s\tmodule\x00100644 %s\ta\x00100644 %s\ta.b/c\x00100644 %s\ta-b\x00", object, long, object, object, object, object, object)
	r.GitInput(input.String(), "update-index", "-z", "--index-info")
	for _, version := range []string{"2", "3", "4"} {
		r.Git("update-index", "--index-version="+version)
		if version != "2" {
			r.Git("update-index", "--skip-worktree", "link")
		}
		repo := open(t, r)
		files, err := repo.List(t.Context(), history.Index, history.Filter{All: true})
		if err != nil {
			t.Fatalf("version %s: %v", version, err)
		}
		var got []string
		for _, f := range files {
			got = append(got, fmt.Sprintf("%s %s 0\t%s", f.Mode, f.Object, f.Path))
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSuffix(r.Git("ls-files", "-s", "-z"), "\x00"), "\x00"), got); diff != "" {
			t.Errorf("version %s (-git +go-git)\n%s", version, diff)
		}
		if index, err := repo.readIndex(t.Context()); err != nil || index.root.String() != r.Git("write-tree") {
			t.Errorf("version %s: the tree is %+v, %v", version, index, err)
		}
	}
}

// An index is decoded again only if it has changed.
func TestIndexIsReadOnce(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	head := r.CommitFile("a/b", "1")
	r.Write("a/b", "2")
	r.Git("add", "-A")
	repo := open(t, r)
	list := func(of *Repo) []history.File {
		files, err := of.List(t.Context(), history.Index, history.Filter{All: true})
		if err != nil {
			t.Error(err)
		}
		return files
	}
	files := list(repo)
	index, err := os.ReadFile(r.Path(".git/index"))
	if err != nil || len(files) != 1 || files[0].Path != "a/b" {
		t.Fatal(files, err)
	}
	decoded := repo.index.Load()
	changes, err := repo.Diff(t.Context(), []history.Edge{{Parent: head, Child: history.Index}}, history.Filter{All: true})
	if err != nil || repo.index.Load() != decoded || len(changes[0]) != 1 || changes[0][0].New != files[0] {
		t.Errorf("the same index: %v, %v", changes, err)
	}
	r.Write("c", "3")
	r.Git("add", "-A")
	if got := list(repo); len(got) != 2 || !cmp.Equal(got, list(open(t, r))) {
		t.Errorf("another index: %v", got)
	}
	if err := os.Remove(r.Path(".git/index")); err != nil {
		t.Fatal(err)
	}
	if got := list(repo); len(got) != 0 {
		t.Errorf("no index: %v", got)
	}
	r.Write(".git/index", string(index[:len(index)-idSize])+strings.Repeat("\x00", idSize))
	_, err = repo.List(t.Context(), history.Index, history.Filter{All: true})
	wantUnserved(t, err, "the index")
}

// An incomplete or unsupported index is left to git.
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
	refuse := func(what string, data []byte) {
		t.Helper()
		r.Write(".git/index", string(data))
		_, err := open(t, r).List(t.Context(), history.Index, history.Filter{All: true})
		wantUnserved(t, err, "the index")
		if t.Failed() {
			t.Fatal(what)
		}
	}
	for i := range len(data) {
		refuse(fmt.Sprintf("the first %d of %d bytes were taken", i, len(data)), data[:i])
	}
	for what, replace := range map[string][2]string{
		"version":   {"DIRC\x00\x00\x00\x02", "DIRC\x00\x00\x00\x05"},
		"extension": {"TREE", "tREE"},
		"split":     {"TREE", "link"},
		"signature": {"DIRC", "DIRX"},
		"mode":      {"\x00\x00\x81\xa4", "\x00\x00\x81\xff"},
		"no name":   {"\x00\x01c\x00", "\x00\x00\x00\x00"},
		"a path up": {"\x00\x03a/b\x00", "\x00\x03../\x00"},
		"no sum":    {string(data[len(data)-idSize:]), strings.Repeat("\x00", idSize)}, // index.skipHash
	} {
		damaged := bytes.Replace(data, []byte(replace[0]), []byte(replace[1]), 1)
		if bytes.Equal(damaged, data) {
			t.Errorf("%s: nothing was damaged", what)
		}
		if what != "no sum" {
			sum := sha1.Sum(damaged[:len(damaged)-idSize])
			copy(damaged[len(damaged)-idSize:], sum[:])
		}
		refuse(what, damaged)
	}
}
