package combine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// TestLines compares the fast way of cutting lines with the slow one.
func TestLines(t *testing.T) {
	several := 0
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(smalltest.Pick(r, []string{"a", " ", "\n", "\n", "\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029", "\xe2\x80", "\xc2", "é"}))
		}
		lines := Lines([]byte(b.String()))
		if diff := cmp.Diff(cutLinesSlowly([]byte(b.String())), lines, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-slow +fast):\n%s", b.String(), diff)
		}
		if len(lines) > 2 {
			several++
		}
	}
	if several == 0 {
		t.Error("no text has several lines")
	}
}
