package githistory_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// treeEntry is an entry of a tree that git itself would not write.
type treeEntry struct{ mode, name, id string }

// forgedTree writes a tree with the given entries, in the given order.
func forgedTree(t *testing.T, r *gittest.Repo, entries ...treeEntry) string {
	t.Helper()
	var raw bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.id)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", e.mode, e.name, id)
	}
	return r.GitInput(raw.String(), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
}

func TestPathThatStandsTwice(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testPathThatStandsTwice)
}

func testPathThatStandsTwice(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	good := r.CommitFile(".small/progress.small.yml", "1")
	blob := r.ID("HEAD:.small/progress.small.yml")
	other := r.GitInput("2", "hash-object", "-w", "--stdin")
	const file, dir = "100644", "40000"
	for what, inner := range map[string][]treeEntry{
		"next to each other": {{file, "progress.small.yml", blob}, {file, "progress.small.yml", other}},
		"out of order":       {{file, "progress.small.yml", other}, {file, "aside", blob}, {file, "progress.small.yml", blob}},
	} {
		small := forgedTree(t, r, inner...)
		root := forgedTree(t, r, treeEntry{dir, ".small", small})
		forged := r.Git("commit-tree", "-p", good, "-m", "forged", root)
		repo := rd.open(t, r)
		t.Run(what, func(t *testing.T) {
			_, err := repo.Diff(t.Context(), []history.Edge{{Child: forged}}, judged)
			wantFailure(t, err, ".small/progress.small.yml twice", "git fsck")
			for _, dirs := range [][]string{nil, {""}} {
				_, err := repo.List(t.Context(), forged, history.Workspaces(dirs...))
				wantFailure(t, err, ".small/progress.small.yml twice", "git fsck")
			}
		})
	}
}

// A tree may hold .small as a file and as a directory, and .small twice.
func TestSmallThatStandsTwice(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testSmallThatStandsTwice)
}

func testSmallThatStandsTwice(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	good := r.CommitFile(".small/x", "1")
	blob, small := r.ID("HEAD:.small/x"), r.ID("HEAD:.small")
	both := r.Git("commit-tree", "-m", "forged", forgedTree(t, r, treeEntry{"100644", ".small", blob}, treeEntry{"40000", ".small", small}))
	twice := r.Git("commit-tree", "-m", "forged", forgedTree(t, r, treeEntry{"40000", ".small", small}, treeEntry{"40000", ".small", small}))
	repo := rd.open(t, r)
	wantEqual(t, []string{".small 100644:1", ".small/x 100644:1"}, files(t, repo, both))
	wantEqual(t, []string{".small 100644:1", ".small/x 100644:1"}, files(t, repo, both, ""))
	wantEqual(t, [][]string{{".small - 100644:1"}}, changes(t, repo, history.Edge{Parent: good, Child: both}))
	_, err := repo.Diff(t.Context(), []history.Edge{{Child: twice}}, judged)
	wantFailure(t, err, ".small/x twice")
}

// Names that some file systems treat as .small are listed too.
func TestLookalikes(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testLookalikes)
}

func testLookalikes(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	first := r.CommitFile("f", "1")
	for _, dir := range []string{"", "a[b]*?/", `a\b/`, "a/"} {
		for _, name := range []string{".small/x", ".SMALL/x", ".small./y/z", ".ſmall"} {
			r.Write(dir+name, "1")
		}
		r.Write(dir+".smallstep/x", "1")
		r.Write(dir+".small-gate.yml", "1")
	}
	second := r.Commit("second")
	repo := rd.open(t, r)
	of := func(dir string) []string {
		return []string{dir + ".SMALL/x 100644:1", dir + ".small./y/z 100644:1", dir + ".small/x 100644:1", dir + ".ſmall 100644:1"}
	}
	all := append(append(append(of(""), of("a/")...), of("a[b]*?/")...), of(`a\b/`)...)
	for _, revision := range []string{second, history.Index} {
		wantEqual(t, of(""), files(t, repo, revision, ""))
		wantEqual(t, of("a/"), files(t, repo, revision, "a"))
		wantEqual(t, of("a[b]*?/"), files(t, repo, revision, "a[b]*?"))
		wantEqual(t, of(`a\b/`), files(t, repo, revision, `a\b`))
		wantEqual(t, len(all), len(files(t, repo, revision)))
		wantEqual(t, len(all)+1, len(changes(t, repo, history.Edge{Parent: first, Child: revision})[0])) // all of them, and the policy
	}
}
