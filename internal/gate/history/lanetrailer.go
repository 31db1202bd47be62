package history

import (
	"bytes"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/lane"
)

var notASCII = expression.Of(`[^\x00-\x7f]+`)

// ClaimedLanes are the names by which a commit's message claims lanes: its trailers, and single words in lines
// elsewhere that look like such a trailer, because a squash joins messages. They need not be lanes. A run of bytes
// that are not ASCII becomes one U+FFFD: git converts a message from its encoding when printing it, and the object
// holds it unconverted.
func ClaimedLanes(message []byte) []string {
	if !bytes.Contains(bytes.ToLower(message), []byte("lane")) {
		return nil
	}
	text := notASCII().ReplaceAllString(string(message), "\ufffd")
	var out []string
	claim := func(t trailer) {
		if strings.EqualFold(t.Name, lane.Trailer) && !slices.Contains(out, t.Value) {
			out = append(out, t.Value)
		}
	}
	for _, t := range TrailersOf(text) {
		claim(t)
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if t, _ := parseTrailer(strings.TrimSpace(line)); t.Value != "" && !strings.ContainsAny(t.Value, " \t") {
			claim(t)
		}
	}
	return out
}
