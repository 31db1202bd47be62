package githistory

import (
	"strings"
	"testing"
	"time"
)

// TestDateKeepsItsZone: a commit's date has the zone that the commit names, even on a machine whose own zone has the same offset in winter only.
func TestDateKeepsItsZone(t *testing.T) { // not parallel, because it changes time.Local
	zone := "TZif" + strings.Repeat("\x00", 16) + // the version and space; then the numbers of what follows
		"\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x02" + "\x00\x00\x00\x02" +
		"\x00\x00\x00\x00" + "\x01" + // from 1970 on summer
		"\x00\x00\x0e\x10\x00\x00" + "\x00\x00\x1c\x20\x01\x00" + "Z\x00" // one hour; two hours in summer
	local, err := time.LoadLocationFromTZData("summer", []byte(zone))
	if err != nil {
		t.Fatal(err)
	}
	before := time.Local
	time.Local = local
	defer func() { time.Local = before }()
	for text, want := range map[string]string{
		"1750000000 +0100": "2025-06-15T16:06:40+01:00",
		"1750000000 +0200": "2025-06-15T17:06:40+02:00",
		"1750000000 +0000": "2025-06-15T15:06:40Z",
	} {
		if got := parseDate(text); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}
