package cli

import (
	"strings"
	"testing"
	"time"
)

// TestProgressLines demands a first line after a second, then one every ten seconds, and none when all is done.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	show := progressLines(&out, "rewriting commits", func() time.Time { return now })
	for i := range 30 {
		now = now.Add(500 * time.Millisecond)
		show(i+1, 30)
	}
	if want := "small-hook: rewriting commits: 2 of 30\nsmall-hook: rewriting commits: 22 of 30\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
