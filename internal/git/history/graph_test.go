package githistory_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A commit-graph is a copy of data in the commits, which git does not verify. If it denies a commit's parents, the commit itself counts.
func TestCommitGraphIsNotBelieved(t *testing.T) {
	gittest.Long(t)
	eachReader(t, testCommitGraphIsNotBelieved)
}

func testCommitGraphIsNotBelieved(t *testing.T, rd reader) {
	t.Parallel()
	r := gittest.New(t)
	first := r.CommitFile("f", "1")
	second := r.CommitFile("f", "2")
	r.Git("commit-graph", "write", "--reachable")
	name := r.Path(".git/objects/info/commit-graph")
	graph, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// gitformat-commit-graph(5): a table of chunks; in CDAT, each commit has the id of its tree, the positions of two parents, and 8 more
	// bytes.
	const noParent = 0x70000000
	at := bytes.Index(graph, []byte("CDAT"))
	data := graph[binary.BigEndian.Uint64(graph[at+4:]):binary.BigEndian.Uint64(graph[at+16:])]
	for ; len(data) >= 36; data = data[36:] {
		binary.BigEndian.PutUint32(data[20:], noParent)
	}
	body := graph[:len(graph)-sha1.Size]
	sum := sha1.Sum(body)
	if err := os.Remove(name); err != nil { // it is read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(body, sum[:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := r.Git("rev-list", "HEAD"); got != second {
		t.Fatalf("git itself was to believe the graph: %q", got)
	}
	commits, err := rd.open(t, r).Commits(t.Context(), []string{second}, nil)
	if err != nil || len(commits) != 2 || !slices.ContainsFunc(commits, func(c history.Commit) bool { return c.ID == first }) {
		t.Errorf("Commits = %v, %v", commits, err)
	}
}
