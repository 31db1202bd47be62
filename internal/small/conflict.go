package small

import "bytes"

// MarkerSize is the length of git's conflict markers where git is told no other (gitattributes(5), conflict-marker-size).
const MarkerSize = 7

// ConflictMarker is the character of the conflict marker with which a line begins: at least size times the same of <, |, = and > at the
// very beginning, followed by a space or nothing. It is 0 if git cannot have written that.
func ConflictMarker(line []byte, size int) byte {
	if len(line) < size || bytes.IndexByte([]byte("<|=>"), line[0]) < 0 {
		return 0
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	if len(line)-len(rest) < size || len(rest) > 0 && rest[0] != ' ' && rest[0] != '\r' && rest[0] != '\n' {
		return 0
	}
	return line[0]
}

// HasConflictMarkers reports whether a conflict marker stands in a text. One of = can be text, and never comes without the others, so
// that it alone is none.
func HasConflictMarkers(text []byte, size int) bool {
	for line := range bytes.Lines(text) {
		if m := ConflictMarker(line, size); m != 0 && m != '=' {
			return true
		}
	}
	return false
}
