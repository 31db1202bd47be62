package gate

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
)

var notASCII = regexp.MustCompile(`[^\x00-\x7f]+`)

// LaneTrailers are the values of the trailers of a commit's message that claim a
// lane. Most commits have none, and that is found without taking the message
// apart. Names of lanes are ASCII: what is not stands as one U+FFFD for each run
// of it, since git converts a message from its encoding where it prints it, and
// the object holds it as it was.
func LaneTrailers(message []byte) []string {
	if !mentionsLane(message) {
		return nil
	}
	var out []string
	for _, t := range trailersOf(strings.ToValidUTF8(string(message), "\ufffd")) {
		if strings.EqualFold(t.name, lane.Trailer) {
			out = append(out, notASCII.ReplaceAllString(t.value, "\ufffd"))
		}
	}
	return out
}

// mentionsLane reports whether a line begins with the trailer's name.
func mentionsLane(text []byte) bool {
	for _, first := range [][]byte{[]byte("\nL"), []byte("\nl")} {
		for rest := text; ; {
			at := bytes.Index(rest, first)
			if at < 0 {
				break
			}
			rest = rest[at+1:]
			if len(rest) >= len(lane.Trailer) && bytes.EqualFold(rest[:len(lane.Trailer)], []byte(lane.Trailer)) {
				return true
			}
		}
	}
	return false
}
