package ledger

import (
	"regexp"
	"testing"
)

// TestOpenFile has files that are open, and that are not.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	form := &Form{Open: regexp.MustCompile("^Status: Draft$")}
	for text, open := range map[string]int{
		"Status: Draft\n":            1,
		"# One\r\nStatus: Draft\r\n": 1,
		"\ufeffStatus: Draft\n":      1,
		"Status: Done\n":             0,
		"# One\n\ufeffStatus: Draft": 0,
		"":                           0,
	} {
		log := form.LogOfFile("0001.md", "100644", "", []byte(text))
		if got := len(form.OpenFile("0001.md", "100644", "", []byte(text)).Entries); log.Open != open || got != open || len(log.Ledger.Entries) != 1-open {
			t.Errorf("%q: %d open of the log, %d entries of it, %d open entries", text, log.Open, len(log.Ledger.Entries), got)
		}
	}
}
