package ledger_test

import (
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
)

// Messages have times to the second, as far as that tells two entries apart.
func TestDescribe(t *testing.T) {
	t.Parallel()
	const early, late = "2026-01-02T00:00:00.000000001Z", "2026-01-02T00:00:00.9+01:00"
	for timestamp, want := range map[string]string{
		early:                  `entry 1 ("a", 2026-01-02T00:00:00Z)`,
		late:                   `entry 1 ("a", 2026-01-02T00:00:00+01:00)`,
		"2026-01-02T00:00:00Z": `entry 1 ("a", 2026-01-02T00:00:00Z)`,
		"yesterday, at 10.30":  `entry 1 ("a", yesterday, at 10.30)`,
		"":                     `entry 1 ("a")`,
	} {
		if got := ledger.Describe(ledger.Entry{TaskID: "a", Timestamp: timestamp}); got != want {
			t.Errorf("%q: %s, want %s", timestamp, got, want)
		}
	}
	a, b := ledger.Entry{TaskID: "a", Timestamp: early}, ledger.Entry{TaskID: "a", Index: 1, Timestamp: "2026-01-02T00:00:00.5Z"}
	if one, other := ledger.DescribeBoth(a, b); one != `entry 1 ("a", `+early+`)` || other != `entry 2 ("a", 2026-01-02T00:00:00.5Z)` {
		t.Errorf("%s, %s", one, other)
	}
	b.Timestamp = "2026-01-02T00:00:01.5Z"
	if one, other := ledger.DescribeBoth(a, b); one != ledger.Describe(a) || other != ledger.Describe(b) {
		t.Errorf("%s, %s", one, other)
	}
}
