package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// A waiver holds until its last day ends, in UTC; without one it does not end.
func TestWaiverExpires(t *testing.T) {
	day := date(2026, 3, 31)
	for _, c := range []struct {
		name  string
		until time.Time
		now   time.Time
		want  bool
	}{
		{"its day", day, day, false},
		{"its last moment", day, day.Add(24*time.Hour - 1), false},
		{"the last day elsewhere", day, time.Date(2026, 3, 31, 20, 0, 0, 0, time.FixedZone("west", -5*3600)), true},
		{"the day after", day, day.Add(24 * time.Hour), true},
		{"no end", time.Time{}, date(2126, 1, 1), false},
	} {
		if got := (Waiver{Until: c.until}).Expired(c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// As many waivers as a configuration holds are joined at a cost that grows with their number alone.
func TestWithAcceptedManyWaivers(t *testing.T) {
	p := Default()
	for i := range 4000 {
		p.Waivers = append(p.Waivers, Waiver{Rule: "append-only/modified", Path: ".small/progress.small.yml", From: &small.Digest{byte(i), byte(i >> 8)}})
	}
	more := *p
	more.Waivers = append(slices.Clone(p.Waivers[1:]), Waiver{Rule: "append-only/modified", Path: "other.txt", From: &small.Digest{}})
	if got := len(p.WithAccepted(&more).Waivers); got != 4001 {
		t.Errorf("%d waivers", got)
	}
	if n := testing.AllocsPerRun(1, func() { p.WithAccepted(&more) }); n > 100_000 {
		t.Errorf("%.0f allocations", n)
	}
}
