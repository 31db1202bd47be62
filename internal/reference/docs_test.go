package reference

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate go test -count=1 -run ^TestTable$ . -update

var update = flag.Bool("update", false, "write the table in docs/reference.md")

var table = regexp.MustCompile(`(?m)^\| case +\|.*\n(\|.*\n)*`)

// TestTable holds the table in the docs to the list that the test reads.
func TestTable(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := [][4]string{{"case", "reference", "here", "why"}}
	for _, d := range divergences {
		rows = append(rows, [4]string{d.what, d.reference, d.here, d.why})
	}
	var widths [4]int
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var out strings.Builder
	for i, row := range rows {
		line := [2]string{"|", "|"}
		for at, cell := range row {
			line[0] += fmt.Sprintf(" %-*s |", widths[at], cell)
			line[1] += " " + strings.Repeat("-", widths[at]) + " |"
		}
		out.WriteString(line[0] + "\n")
		if i == 0 {
			out.WriteString(line[1] + "\n")
		}
	}
	written := table.ReplaceAllLiteralString(string(page), out.String())
	if written == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/reference.md is stale: run go generate ./internal/reference")
	}
	if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
}
