package policy

import (
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

func TestWaiverFor(t *testing.T) {
	a, b := digest(t, "a"), digest(t, "b")
	const path = ".small/progress.small.yml"
	p := Default()
	p.Waivers = []Waiver{
		{Rule: "append-only/modified", Path: path, From: a, To: b, Until: date(2026, 3, 31)},
		{Rule: "append-only/deleted", Path: path, From: a},
		{Rule: "append-only/inserted", Path: path, To: b},
	}
	day := date(2026, 3, 31)
	for _, c := range []struct {
		name       string
		rule, path string
		from, to   *small.Digest
		now        time.Time
		want       int // index, -1 for none
	}{
		{"the edit", "append-only/modified", path, digest(t, "a"), digest(t, "b"), day, 0},
		{"its last moment", "append-only/modified", path, a, b, day.Add(24*time.Hour - 1), 0},
		{"the last day elsewhere", "append-only/modified", path, a, b, time.Date(2026, 3, 31, 20, 0, 0, 0, time.FixedZone("west", -5*3600)), -1},
		{"the day after", "append-only/modified", path, a, b, day.Add(24 * time.Hour), -1},
		{"the other way round", "append-only/modified", path, b, a, day, -1},
		{"another rule", "append-only/task-reassigned", path, a, b, day, -1},
		{"another path", "append-only/modified", "web/" + path, a, b, day, -1},
		{"no digest after", "append-only/modified", path, a, nil, day, -1},
		{"a deletion", "append-only/deleted", path, a, nil, date(2126, 1, 1), 1},
		{"a deletion that is an edit", "append-only/deleted", path, a, b, day, -1},
		{"an insertion", "append-only/inserted", path, nil, b, day, 2},
		{"nothing", "append-only/inserted", path, nil, nil, day, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := p.WaiverFor(c.rule, c.path, c.from, c.to, c.now)
			if c.want < 0 && got != nil || c.want >= 0 && got != &p.Waivers[c.want] {
				t.Errorf("got %+v, want number %d", got, c.want)
			}
		})
	}
}
