package ledger_test

import (
	"crypto/sha256"
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
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
	at := func(fraction string) ledger.Entry {
		return ledger.Entry{Timestamp: "2026-01-02T00:00:00" + fraction, Digest: small.Digest(sha256.Sum256([]byte(fraction)))}
	}
	for fraction, want := range map[string]string{
		".123456789Z": ".123456789Z", ".123456700Z": ".123456700Z", ".123999Z": ".123999Z", ".5Z": ".5Z", "+01:00": "+01:00", ".750001+01:00": ".750+01:00",
	} {
		others := []ledger.Entry{at(".123456789Z"), at(".123456700Z"), at(".123999Z"), at(".5Z"), at("+01:00"), at(".750001+01:00")}
		if got := ledger.TimeAmong(at(fraction), others); got != "2026-01-02T00:00:00"+want {
			t.Errorf("%s among others: %s", fraction, got)
		}
	}
	if got := ledger.TimeAmong(at(".5Z"), []ledger.Entry{at(".5Z"), {Timestamp: "2026-01-02T00:00:01.5Z"}}); got != "2026-01-02T00:00:00Z" {
		t.Error(got)
	}
	b.Timestamp = "2026-01-02T00:00:01.5Z"
	if one, other := ledger.DescribeBoth(a, b); one != ledger.Describe(a) || other != ledger.Describe(b) {
		t.Errorf("%s, %s", one, other)
	}
}
