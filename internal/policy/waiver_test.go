package policy

import (
	"testing"
	"time"
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
