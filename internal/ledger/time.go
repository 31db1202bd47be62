package ledger

import (
	"strings"
	"time"
)

// ParseTimestamp reads an entry's timestamp: RFC 3339 with a fraction and a zone, and T and Z in upper case, as the
// protocol's lint requires. Digits beyond nanoseconds and surrounding white space are ignored. Years 0 and 1 are
// invalid: other languages have no such dates.
func ParseTimestamp(s string) (time.Time, bool) {
	const seconds = "0000-00-00T00:00:00."
	s = strings.TrimSpace(s)
	fraction := s[min(len(s), len(seconds)):]
	zone := strings.TrimLeft(fraction, "0123456789")
	if !hasForm(s[:len(s)-len(fraction)], seconds) || len(zone) == len(fraction) || zone != "Z" && !hasForm(zone, "+00:00") && !hasForm(zone, "-00:00") {
		return time.Time{}, false
	}
	t, ok := ParseInstant(s)
	return t, ok && t.Year() > 1
}

// hasForm reports whether a text has a form, in which 0 stands for any digit.
func hasForm(text, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i := range len(form) {
		if c := text[i]; c != form[i] && (form[i] != '0' || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// ParseInstant reads a timestamp in any RFC 3339 form, to compare what older tools wrote.
func ParseInstant(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
	return t, err == nil
}

// ClockTolerance is how far clocks of honest machines may differ.
const ClockTolerance = 5 * time.Minute
