package gate

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/lane"
)

// LaneWord is one place in a commit's message that names a lane.
type LaneWord struct {
	// Name is what stands there; it need not be that of a lane.
	Name string
	// Stray is true for a line that would claim a lane if it stood among the
	// message's trailers, and does not: a squash puts messages one after the other.
	Stray bool
}

// LaneWords are the trailers of a commit's message that claim a lane, and the
// stray lines that would. Most commits have none, and that is found without
// taking the message apart. Names of lanes are ASCII: what is not stands as one
// U+FFFD for each run of it, since git converts a message from its encoding where
// it prints it, and the object holds it as it was.
func LaneWords(message []byte) []LaneWord {
	if !mentionsLane(message) {
		return nil
	}
	text := strings.ToValidUTF8(string(message), "\ufffd")
	var out []LaneWord
	claimed := map[lane.Lane]int{}
	for _, t := range trailersOf(text) {
		if strings.EqualFold(t.name, lane.Trailer) {
			out = append(out, LaneWord{Name: asciiOnly(t.value)})
			l, _ := lane.Parse(t.value)
			claimed[l]++
		}
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		t, _ := parseTrailer(strings.TrimSpace(line))
		l, named := lane.Parse(t.value)
		if !named || !strings.EqualFold(t.name, lane.Trailer) {
			continue
		}
		if claimed[l]--; claimed[l] < 0 {
			out = append(out, LaneWord{Name: string(l), Stray: true})
		}
	}
	return out
}

// mentionsLane reports whether a line could begin with the trailer's name, after
// white space.
func mentionsLane(text []byte) bool {
	for rest := text; ; {
		at := bytes.IndexByte(rest, ':')
		if at < 0 {
			return false
		}
		name := bytes.TrimRight(rest[:at], " \t")
		if n := len(name) - len(lane.Trailer); n >= 0 && bytes.EqualFold(name[n:], []byte(lane.Trailer)) {
			return true
		}
		rest = rest[at+1:]
	}
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
