package reference

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestTable$ . -update

var update = flag.Bool("update", false, "write the list in docs/small.md")

// The list is between these two.
const (
	listBegins = "<!-- the list is written by go generate ./internal/e2e/reference -->\n"
	listEnds   = "\n<!-- the list ends -->"
)

// TestTable compares the list in the docs with the tests' list of what the two programs say.
func TestTable(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "small.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), listBegins)
	_, after, ends := strings.Cut(rest, listEnds)
	if !begins || !ends {
		t.Fatal("docs/small.md has no place for the list")
	}
	written := before + listBegins + list() + listEnds + after
	if written == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/small.md is stale: run go generate ./internal/e2e/reference")
	}
	if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
}

// list has the cases below what the two programs say, and below the cases that one sentence decides that sentence.
func list() (text string) {
	verdicts := func(d divergence) string {
		return fmt.Sprintf("\n`small check`: %s. `small-hook check`: %s.\n\n", d.reference, d.here)
	}
	var done []string
	for _, first := range divergences {
		if slices.Contains(done, verdicts(first)) {
			continue
		}
		done = append(done, verdicts(first))
		text += verdicts(first)
		var sentences []string
		cases := map[string]string{}
		for _, d := range divergences {
			if verdicts(d) != verdicts(first) {
				continue
			}
			if cases[d.decides] == "" {
				sentences = append(sentences, d.decides)
			}
			cases[d.decides] += "- " + d.what + ", because " + d.because + "\n"
		}
		for _, sentence := range sentences {
			text += cases[sentence]
			if _, verdicts, row := strings.Cut(sentence, " | "); row {
				sentence = verdicts // a row of a table there begins with the case
			}
			if sentence != "" {
				text += "  Decided by: “" + sentence + "”\n"
			}
		}
	}
	return text
}

// facts has the protocol's facts. It is beside the repository, not part of it.
var facts = filepath.Join("..", "..", "..", "..", "shared", "protocol.md")

// TestDecides finds the sentences that decide where the gate differs, word for word, in the protocol's facts.
func TestDecides(t *testing.T) {
	text, err := os.ReadFile(facts)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("NOT TESTED: no cited sentence is looked up: ../shared/protocol.md is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(strings.Fields(string(text)), " ")
	for _, d := range divergences {
		if !strings.Contains(all, d.decides) {
			t.Errorf("%s: the protocol's facts do not say: %s", d.what, d.decides)
		}
	}
}
