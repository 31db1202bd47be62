package small

import (
	"bytes"
	"fmt"
	"strings"
)

// MarkerSize is the default length of git's conflict markers (gitattributes(5), conflict-marker-size).
const MarkerSize = 7

// ConflictMarker returns the character of the conflict marker at the beginning of a line: at least size times the same
// of <, |, = and >, followed by a space or nothing. It returns 0 if there is none.
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

// HasConflictMarkers reports whether a text has a conflict marker. A marker of = alone does not count: it can be text, and git never
// writes it without the others.
func HasConflictMarkers(text []byte, size int) bool {
	for line := range bytes.Lines(text) {
		if m := ConflictMarker(line, size); m != 0 && m != '=' {
			return true
		}
	}
	return false
}

// WholeConflict returns the problem of a text that has markers of <, = and > in this order, as git writes them; nil if
// it has none. A single marker may be an entry in a log of lines.
func WholeConflict(text []byte) *Problem {
	if !bytes.Contains(text, bytes.Repeat([]byte(">"), MarkerSize)) {
		return nil
	}
	begin, line, middle := 0, 0, false
	for at := range bytes.Lines(text) {
		line++
		switch m := ConflictMarker(at, MarkerSize); {
		case m == '<':
			begin, middle = line, false
		case m == '=':
			middle = begin > 0
		case m == '>' && middle:
			return conflictProblem('<', begin)
		}
	}
	return nil
}

// conflictProblem returns the problem of a marker at the beginning of a line.
func conflictProblem(marker byte, line int) *Problem {
	return &Problem{
		Kind: ProblemYAML, Pos: Pos{line, 1}, Conflict: true,
		Message: fmt.Sprintf("the file contains a conflict marker (%s)", strings.Repeat(string(marker), MarkerSize)),
		Hint:    "resolve the conflict; in a guarded log, use `small-hook reconcile`",
	}
}
