package gate

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/lane"
)

// LaneTrailers are the values of the trailers of a commit's message that claim a
// lane. Most commits have none, and that is found without taking the message
// apart.
func LaneTrailers(message []byte) []string {
	if !mentionsLane(message) {
		return nil
	}
	var out []string
	for _, t := range trailersOf(strings.ToValidUTF8(string(message), "\ufffd")) {
		if strings.EqualFold(t.name, lane.Trailer) {
			out = append(out, t.value)
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
