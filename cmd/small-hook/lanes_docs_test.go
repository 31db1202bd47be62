package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestLanesPage runs docs/lanes.md, block by block, and compares the outputs that the page shows. The workspace is the one that the page
// says to copy.
func TestLanesPage(t *testing.T) {
	gittest.Long(t)
	r := typePage(t, "../../docs/lanes.md", "../../internal/cli/demo/workspace", 4)
	if got := strings.Fields(r.Git("log", "--format=%(trailers:key=Lane,valueonly)")); !slices.Equal(got, []string{"fast"}) {
		t.Errorf("the page has claimed the lanes %q by trailers", got)
	}
	if log := r.Git("show", "HEAD:.small/progress.small.yml"); !strings.Contains(log, "fast to deep: it changes stored data") {
		t.Errorf("the page has not switched:\n%s", log)
	}
}
