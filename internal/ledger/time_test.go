package ledger

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// TestParseTimestamp changes bytes of timestamps: the ones that both the expression and time.Parse take are read.
func TestParseTimestamp(t *testing.T) {
	form := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)$`)
	good, bad := 0, 0
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		text := []byte(smalltest.Pick(r, []string{"2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.123456789012+01:00", " 2024-02-29T23:59:59.000-12:30\n", "0001-01-01T00:00:00.0Z"}))
		for range r.IntN(3) {
			i, c := r.IntN(len(text)), "09-+:.TZtz, x"[r.IntN(13)]
			switch r.IntN(3) {
			case 0:
				text[i] = c
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				text = append(text[:i:i], append([]byte{c}, text[i:]...)...)
			}
		}
		s := string(text)
		want, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
		valid := err == nil && want.Year() > 1 && form.MatchString(strings.TrimSpace(s))
		got, ok := ParseTimestamp(s)
		if ok != valid || ok && !got.Equal(want) {
			t.Fatalf("%q: %v, %v", s, got, ok)
		}
		if ok {
			good++
		} else {
			bad++
		}
	}
	if good < int(*smalltest.Cases)/10 || bad < int(*smalltest.Cases)/10 {
		t.Errorf("%d are read and %d are not", good, bad)
	}
}
