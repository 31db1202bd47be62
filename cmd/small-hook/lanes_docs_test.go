package main

import (
	"strings"
	"testing"
)

// TestLanesPage types what docs/lanes.md says, block by block, and looks for what
// the page says that a command prints. The workspace is the one that the page says
// to copy.
func TestLanesPage(t *testing.T) {
	r := typePage(t, "../../docs/lanes.md", "../../internal/demo/workspace", 4)
	if got := r.Git("log", "--format=%(trailers:key=Lane,valueonly)"); strings.Join(strings.Fields(got), " ") != "deep fast" {
		t.Errorf("the page has claimed the lanes %q", got)
	}
}
