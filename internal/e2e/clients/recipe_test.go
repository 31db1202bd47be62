//go:build !windows

package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// section is the text below a heading of docs/installation.md, up to the next heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "installation.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(heading) + `$`).FindIndex(text)
	if found == nil {
		t.Fatalf("docs/installation.md has no heading %q", heading)
	}
	below, _, _ := strings.Cut(string(text[found[1]:]), "\n#")
	return below
}

var (
	fence      = regexp.MustCompile("(?s)```\\w+\n(.*?)```\n")
	documented = regexp.MustCompile("(?s)[Aa]dd to\\s+`([^`]+)`[^`]*(?:`repos`[^`]*)?:\n\n```\\w+\n(.*?)```\n")
	typed      = regexp.MustCompile("(?s)Then type:\n\n```sh\n(.*?)```\n")
)

// recipe is what docs/installation.md says below a heading.
func recipe(t *testing.T, heading string) manual {
	t.Helper()
	text := section(t, heading)
	m := manual{said: text}
	for _, block := range documented.FindAllStringSubmatch(text, -1) {
		m.additions = append(m.additions, addition{file: block[1], text: block[2]})
	}
	for _, block := range typed.FindAllStringSubmatch(text, -1) {
		m.commands = append(m.commands, strings.TrimSuffix(block[1], "\n"))
	}
	if blocks := len(fence.FindAllString(text, -1)); blocks != len(m.additions)+len(m.commands) {
		t.Fatalf("below %q, %d of %d blocks are not understood:\n%s", heading, blocks-len(m.additions)-len(m.commands), blocks, text)
	}
	return m
}

// sameRecipe demands that the documentation says what install prints, but for how a list is indented.
func sameRecipe(t *testing.T, documented, printed manual) {
	t.Helper()
	plain := func(m manual) map[string]string {
		lines := map[string]string{"": strings.Join(m.commands, "\n")}
		for _, a := range m.additions {
			indent := len(a.text) - len(strings.TrimLeft(a.text, " "))
			lines[a.file] = strings.ReplaceAll("\n"+a.text, "\n"+strings.Repeat(" ", indent), "\n")
		}
		return lines
	}
	if diff := cmp.Diff(plain(documented), plain(printed)); diff != "" {
		t.Errorf("docs/installation.md (-) does not say what install prints (+):\n%s", diff)
	}
}
