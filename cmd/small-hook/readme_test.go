package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/cli/demo"
)

//go:generate go test . -run TestPicture -update

// The picture in the README, and how wide its terminal is, in characters.
const (
	picture        = "../../docs/rejection.svg"
	pictureColumns = 88
	repair         = "\n$ small-hook restore\n"
)

var (
	// objectIDs differ from run to run, since the demonstration's commits have the current time.
	objectIDs = regexp.MustCompile(`compared with [0-9a-f]{12}`)
	// keptFile is where restore keeps the file as it was, in the demonstration's temporary repository.
	keptFile = regexp.MustCompile(`\S+/(\.git/small-gate/)\S+`)
	sgr      = regexp.MustCompile(`\x1b\[(\d+)m`)
)

// TestPicture demands that the picture in the README shows what the demonstration prints, and that the README says it in words too.
func TestPicture(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := demo.Run(context.Background(), &out, demoProgram(t, program), os.Environ(), true); err != nil {
		t.Fatal(err)
	}
	_, rejection, found := strings.Cut(out.String(), `$ git commit -m "Tidy the log up"`)
	rejection, _, ended := strings.Cut(rejection, "\n\nThe rewritten entry")
	if !found || !ended || !strings.Contains(rejection, repair) {
		t.Fatalf("the demonstration prints something else:\n%s", out.String())
	}
	shown := objectIDs.ReplaceAllString(keptFile.ReplaceAllString(rejection, "$1…"), "compared with b151768c85c5")
	want := draw(strings.Split(`$ git commit -m "Tidy the log up"`+shown, "\n"))
	if *update {
		if err := os.WriteFile(picture, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want); diff != "" {
		t.Errorf("%s is stale (-there +wanted); draw it anew with: go generate ./cmd/small-hook\n%s", picture, diff)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	alt, _, found := strings.Cut(string(readme), "](docs/rejection.svg)")
	alt = alt[strings.LastIndex(alt, "![")+2:]
	for _, words := range []string{"git commit", "append-only/modified", "importer reads 1204 rows; 3 rows are refused", "small-hook restore"} {
		if !found || !strings.Contains(alt, words) || !strings.Contains(rejection, words) && words != "git commit" {
			t.Errorf("the picture's alternative text in the README does not say %q: %s", words, alt)
		}
	}
}

// wrap breaks a line between words, so that it fits.
func wrap(line string) (lines []string) {
	width := func(s string) int { return len(sgr.ReplaceAllString(s, "")) }
	for _, word := range strings.SplitAfter(line, " ") {
		last := len(lines) - 1
		if last < 0 || width(lines[last]+strings.TrimRight(word, " ")) > pictureColumns {
			lines = append(lines, word)
		} else {
			lines[last] += word
		}
	}
	return lines
}

// draw draws the lines of a terminal. They appear one command after the other, once, and all at the same time for a reader who does not want
// pictures to move.
func draw(lines []string) string {
	const lineHeight, charWidth, margin = 20, 8.45, 20 // pixels, at the size below
	var body strings.Builder
	y := margin + 14 - lineHeight
	delay := 0.0 // seconds
	for i, long := range lines {
		switch {
		case i > 0 && strings.HasPrefix(long, "$ "):
			delay += 3
		case i > 0 && strings.HasPrefix(lines[i-1], "$ "):
			delay += 0.7
		}
		for _, line := range wrap(long) {
			y += lineHeight
			line = sgr.ReplaceAllStringFunc(html.EscapeString(line), func(code string) string {
				class := map[string]string{"31": "red", "32": "green", "1": "bold"}[sgr.FindStringSubmatch(code)[1]]
				if class == "" {
					return "</tspan>"
				}
				return `<tspan class="` + class + `">`
			})
			fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" style=\"animation-delay: %gs\">%s</text>\n", margin, y, delay, line)
		}
	}
	width, height := int(math.Ceil(pictureColumns*charWidth))+2*margin, y+margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>A rejected commit, and its repair</title>
<!-- Drawn from small-hook demo by "go generate ./cmd/small-hook". Do not edit. -->
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328 }
rect { fill: #f6f8fa; stroke: #d0d7de }
.red { fill: #b31d28 } .green { fill: #176f2c } .bold { font-weight: bold }
@media (prefers-reduced-motion: no-preference) {
  text { animation: appear 0.2s both }
  @keyframes appear { from { opacity: 0 } }
}
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  rect { fill: #161b22; stroke: #3d444d }
  .red { fill: #ff7b72 } .green { fill: #56d364 }
}
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
%s</svg>
`, width, height, width-1, height-1, body.String())
}

// demoProgram is a program that runs the code under test: this test's binary under the program's name.
func demoProgram(t *testing.T, binary string) string {
	t.Helper()
	link := t.TempDir() + "/small-hook"
	if err := os.Symlink(binary, link); err != nil {
		t.Fatal(err)
	}
	return link
}
