package witness_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/witness"
	"github.com/small-gate/small-gate/internal/small"
)

// TestDocs computes the digest and the head of the example in FORMAT.md as that page describes, without using this module's code.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(begin string) string {
		_, text, found := strings.Cut(string(page), begin)
		text, _, closed := strings.Cut(text, "```\n")
		if !found || !closed {
			t.Fatalf("the page has no %q", begin)
		}
		return text
	}
	state, err := witness.Parse([]byte("{\n" + block("```json\n{\n")))
	if err != nil {
		t.Fatal(err)
	}
	entry := `{"evidence"` + strings.TrimSuffix(block("```json\n{\"evidence\""), "\n")
	hash := func(parts ...[]byte) []byte {
		h := sha256.New()
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	log := state.Refs[0].Logs[0]
	if got := "sha256:" + hex.EncodeToString(hash([]byte(entry))); got != log.Entries[0].String() {
		t.Errorf("the entry's digest is %s", got)
	}
	head := hash()
	for _, d := range log.Entries {
		head = hash(head, d[:])
	}
	if log.Head.String() != "sha256:"+hex.EncodeToString(head) {
		t.Errorf("the head is %x", head)
	}

	// And the module computes the same, of an entry with every number that the page speaks of.
	for text, canonical := range map[string]string{
		entry:                               entry,
		"{b: 9007199254740993, \"a\": 'x'}": `{"a":"x","b":!!int"9007199254740993"}`,
	} {
		document, problems := small.Parse([]byte(text), small.Limits{})
		if len(problems) > 0 {
			t.Fatalf("%v", problems)
		}
		if got := small.EntryDigest(document.Root); got != sha256.Sum256([]byte(canonical)) {
			t.Errorf("%s is not hashed as %s", text, canonical)
		}
	}
}
