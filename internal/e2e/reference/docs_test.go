package reference

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestTable$ . -update

var update = flag.Bool("update", false, "write the list in docs/reference.md")

// The list is between these two.
const (
	listBegins = "<!-- the list is written by go generate ./internal/e2e/reference -->\n"
	listEnds   = "\n<!-- the list ends -->"
)

// TestTable compares the list in the docs with the tests' list of what the two programs say.
func TestTable(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "reference.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), listBegins)
	_, after, ends := strings.Cut(rest, listEnds)
	if !begins || !ends {
		t.Fatal("docs/reference.md has no place for the list")
	}
	var order []string
	cases := map[string]string{}
	for _, d := range divergences {
		verdicts := fmt.Sprintf("\n`small check`: %s. `small-hook check`: %s.\n\n", d.reference, d.here)
		if cases[verdicts] == "" {
			order = append(order, verdicts)
		}
		cases[verdicts] += "- " + d.what + ", because " + d.because + "\n"
		if d.decides != "" {
			cases[verdicts] += "  Decided by: “" + d.decides + "”\n"
		}
	}
	written := before + listBegins
	for _, verdicts := range order {
		written += verdicts + cases[verdicts]
	}
	written += listEnds + after
	if written == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/reference.md is stale: run go generate ./internal/e2e/reference")
	}
	if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
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
