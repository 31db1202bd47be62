package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpFits demands that no line of any command's help is wider than 80 columns.
func TestHelpFits(t *testing.T) {
	root := Command()
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d columns: %s", c.Name(), n, line)
			}
		}
	}
}

// TestHelpGroups demands that help lists each command once, except for those that only git and harnesses call.
func TestHelpGroups(t *testing.T) {
	called := []string{"agent-hook", "merge-driver", "pre-applypatch", "pre-commit", "pre-merge-commit", "pre-push", "pre-receive", "prepare-commit-msg"}
	var unlisted, groups []string
	for _, g := range commandGroups {
		groups = append(groups, g.names...)
	}
	root := Command()
	for _, c := range root.Commands() {
		if !slices.Contains(groups, c.Name()) {
			unlisted = append(unlisted, c.Name())
		}
	}
	slices.Sort(unlisted)
	if !slices.Equal(unlisted, called) {
		t.Errorf("not listed: %q, want %q", unlisted, called)
	}
	var out bytes.Buffer
	root.SetOut(&out)
	if err := root.Help(); err != nil {
		t.Fatal(err)
	}
	for _, name := range groups {
		if n := strings.Count(out.String(), "\n  "+name+" "); n != 1 {
			t.Errorf("%s is listed %d times:\n%s", name, n, out.String())
		}
	}
	for _, want := range []string{"\nEvery day:\n  install ", "\nAdvanced:\n", "\n  -q, --quiet "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
