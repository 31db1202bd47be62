package history

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
)

var notASCII = regexp.MustCompile(`[^\x00-\x7f]+`)

// ClaimedLanes are the names by which a commit's message claims lanes: what its
// trailers say, and single words in lines elsewhere that are like such a trailer, since
// a squash puts messages one after the other. They need not be lanes. Names of lanes
// are ASCII: what is not stands as one U+FFFD for each run of it, since git converts
// a message from its encoding where it prints it, and the object holds it as it was.
func ClaimedLanes(message []byte) []string {
	if !bytes.Contains(bytes.ToLower(message), []byte("lane")) {
		return nil
	}
	text := notASCII.ReplaceAllString(string(message), "\ufffd")
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
