package gate

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/lane"
)

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
			out = append(out, asciiOnly(t.value))
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

// asciiOnly puts one U+FFFD for each run of what is not ASCII.
func asciiOnly(text string) string {
	var out strings.Builder
	other := false
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case !other:
			out.WriteRune(utf8.RuneError)
		}
		other = r >= utf8.RuneSelf
	}
	return out.String()
}
