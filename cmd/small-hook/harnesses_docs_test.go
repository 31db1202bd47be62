package main

import (
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/agent/settings"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestHarnessesPage runs docs/harnesses.md, block by block. Each harness has a section with its settings file.
func TestHarnessesPage(t *testing.T) {
	gittest.Long(t)
	r := typePage(t, "../../docs/harnesses.md", "testdata/workspace/.small", 7)
	if got := r.Git("status", "--porcelain"); got != "" {
		t.Errorf("what the page has undone is still there:\n%s", got)
	}
	page, err := os.ReadFile("../../docs/harnesses.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range settings.All {
		_, section, found := strings.Cut(string(page), "\n## "+f.Harness.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !strings.Contains(section, "File: `"+f.Path+"`") {
			t.Errorf("the page has no section on %s with its file %s", f.Harness.Title, f.Path)
		}
		if !strings.Contains(string(page), "small-hook agent-hook --harness "+f.Harness.Name+" <") {
			t.Errorf("the page does not run agent-hook for %s", f.Harness.Name)
		}
	}
}
