package plain

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

const someID = "78981922613b2afb6025042ff6bd878ac1994e85"

func TestParseCommit(t *testing.T) {
	t.Parallel()
	const tree, parent = "tree " + someID + "\n", "parent " + someID + "\n"
	const who = "author A <a@b> 1 +0000\ncommitter C D <c> d@e> 1700000000 +0100\n\nmessage\nparent of all\n"
	for text, want := range map[string]int{tree + who: 0, tree + parent + who: 1, tree + parent + parent + who: 2} {
		c, err := parseCommit([]byte(text))
		if err != nil || len(c.Parents) != want || c.tree.String() != someID || c.date != 1700000000 {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	if c, err := parseCommit([]byte(tree + "author A\ncommitter B\n\nx")); err != nil || c.date != 0 {
		t.Errorf("without a date: %+v, %v", c, err)
	}
	for _, text := range []string{"", "\n", tree, tree + parent, tree + "\n" + who, tree + "parent x\n" + who, parent + tree, "tree x\n", "tree " + someID + "0\n", tree + "parent \n", tree + "parent " + strings.ToUpper(someID) + "\n"} {
		if c, err := parseCommit([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// treeOf is a tree with entries given as "mode name".
func treeOf(entries ...string) []byte {
	id, err := hex.DecodeString(someID)
	if err != nil {
		panic(err)
	}
	var data []byte
	for _, e := range entries {
		data = append(append(append(data, e...), 0), id...)
	}
	return data
}

func TestTreeEntries(t *testing.T) {
	t.Parallel()
	entries, err := parseTree(treeOf("100644 a", "40000 b", "040000 c", "100755 e", "120000 g", "160000 h", "100644 .git", "100644 x/y"))
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%06o %s", uint32(e.mode), e.name))
	}
	want := []string{
		"100644 a", "040000 b", "040000 c", "100755 e", "120000 g", "160000 h", "100644 .git", "100644 x/y",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	whole := treeOf("100644 a")
	for i := 1; i < len(whole); i++ {
		if _, err := parseTree(whole[:i]); err == nil {
			t.Errorf("the first %d bytes were taken", i)
		}
	}
	for _, entry := range []string{"100644 ", "10x644 a", " a", "100644a", "12345678 a", "100700 a", "120777 a", "0 a"} {
		if _, err := parseTree(treeOf(entry)); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
}

// Entries are compared in the order in which git writes them.
func TestOrderOfNames(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	blob := r.GitInput("1", "hash-object", "-w", "--stdin")
	empty := r.GitInput("", "mktree")
	var input strings.Builder
	for i, name := range []string{"a", "a-b", "a.b", "a0", "ab", "b", "A", "\xff", "a\x01", "a.", "a-", "aa", "a b"} {
		if i%2 == 0 {
			fmt.Fprintf(&input, "040000 tree %s\t%s\x00100644 blob %s\t%s.c\x00", empty, name, blob, name)
		} else {
			fmt.Fprintf(&input, "100644 blob %s\t%s\x00040000 tree %s\t%s-c\x00", blob, name, empty, name)
		}
	}
	id := r.GitInput(input.String(), "mktree", "-z")
	d := diff{ctx: t.Context(), repo: open(t, r)}
	entries, err := d.tree(plumbing.NewHash(id))
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(entries); i++ {
		if entries[i-1].sortKey() >= entries[i].sortKey() {
			t.Errorf("%q does not come before %q", entries[i-1].name, entries[i].name)
		}
	}
	if len(entries) != 26 {
		t.Errorf("%d entries", len(entries))
	}
}

func FuzzObjects(f *testing.F) {
	f.Add(treeOf("100644 a", "40000 b"))
	f.Add([]byte("tree " + someID + "\nparent " + someID + "\nauthor x\ncommitter <> 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err == nil && len(entries) > len(data)/idSize {
			t.Errorf("%d entries in %d bytes", len(entries), len(data))
		}
		for _, e := range entries {
			if e.name == "" || strings.Contains(e.name, "\x00") {
				t.Errorf("an entry named %q", e.name)
			}
		}
		if c, err := parseCommit(data); err == nil && c.tree == plumbing.ZeroHash && !bytes.Contains(data, bytes.Repeat([]byte("0"), 40)) {
			t.Error("no tree")
		}
		if target, id := parseRef(string(data)); target+id != "" && len(data) < 6 {
			t.Errorf("a ref of %q", data)
		}
	})
}
