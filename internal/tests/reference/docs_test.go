package reference

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestTable$ . -update

var update = flag.Bool("update", false, "write the list in docs/small.md")

// The list is between these two.
const (
	listBegins = "<!-- the list is written by go generate ./internal/tests/reference -->\n"
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
	var order []string
	cases := map[string]string{}
	for _, d := range divergences {
		verdicts := fmt.Sprintf("\n`small check`: %s. `small-hook check`: %s.\n\n", d.reference, d.here)
		if cases[verdicts] == "" {
			order = append(order, verdicts)
		}
		cases[verdicts] += "- " + d.what + "\n"
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
		t.Fatal("docs/small.md is stale: run go generate ./internal/tests/reference")
	}
	if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
}
