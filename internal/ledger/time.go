package ledger

import (
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/expression"
)

// timestampForm is RFC 3339 with a fraction and a zone, and T and Z in upper case, as the protocol's lint
// requires.
var timestampForm = expression.Of(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)$`)

// ParseTimestamp reads an entry's timestamp. Digits beyond nanoseconds and surrounding white space are ignored.
// Years 0 and 1 are invalid: other languages have no such dates.
func ParseTimestamp(s string) (time.Time, bool) {
	if !timestampForm().MatchString(strings.TrimSpace(s)) {
		return time.Time{}, false
	}
	t, ok := ParseInstant(s)
	return t, ok && t.Year() > 1
}

// ParseInstant reads a timestamp in any RFC 3339 form, to compare what older tools wrote.
func ParseInstant(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(s))
	return t, err == nil
}

// ClockTolerance is how far clocks of honest machines may differ.
const ClockTolerance = 5 * time.Minute
