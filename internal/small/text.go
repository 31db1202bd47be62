package small

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// checkText rejects what must not reach the YAML parser: bytes that are not
// UTF-8, conflict markers, a Git LFS pointer, and so much structure that the
// parsed form would not fit in a sane amount of memory.
func checkText(data []byte) *Problem {
	if IsLFSPointer(data) {
		return &Problem{
			Kind: ProblemNotAFile, Pos: Pos{1, 1},
			Message: "the file is a Git LFS pointer, not the file itself",
			Hint:    "take .small/ out of the LFS patterns in .gitattributes and commit the file itself",
		}
	}
	structure, line := 0, 1
	for rest := data; len(rest) > 0; line++ {
		text := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			text, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if marker := conflictMarker(text); marker != "" {
			return &Problem{
				Kind: ProblemYAML, Pos: Pos{line, 1},
				Message: fmt.Sprintf("a conflict marker (%s) stands in the file", marker),
				Hint:    "resolve the conflict: keep every entry of both sides, in order of time, and remove the markers",
			}
		}
		if col := invalidUTF8(text); col > 0 {
			return &Problem{
				Kind: ProblemYAML, Pos: Pos{line, col},
				Message: fmt.Sprintf("the byte %#02x here is not valid UTF-8", text[byteOffset(text, col)]),
				Hint:    "save the file as UTF-8",
			}
		}
		structure++
		structure += bytes.Count(text, []byte{','}) + bytes.Count(text, []byte{'['}) +
			bytes.Count(text, []byte{'{'}) + bytes.Count(text, []byte(": ")) + bytes.Count(text, []byte("- "))
		if structure > maxStructure {
			return &Problem{
				Kind: ProblemTooLarge, Pos: Pos{line, 1},
				Message: fmt.Sprintf("the file has more than %d lines, keys and list items up to here", maxStructure),
				Hint:    "keep logs and outputs outside .small/ and refer to them",
			}
		}
	}
	return nil
}

// lfsMagic opens every Git LFS pointer file (git-lfs specification, "The
// Pointer").
var lfsMagic = []byte("version https://git-lfs.github.com/spec/v1")

// IsLFSPointer reports whether data is a Git LFS pointer rather than the file
// it stands for.
func IsLFSPointer(data []byte) bool {
	return len(data) < 1024 && bytes.HasPrefix(data, lfsMagic)
}

// conflictMarker returns the marker with which a line begins, if git could
// have written it: seven equal characters at the very beginning, followed by a
// space or nothing. "=======" alone can be text, and never comes without the
// other two.
func conflictMarker(line []byte) string {
	if len(line) < 7 {
		return ""
	}
	for _, marker := range []string{"<<<<<<<", ">>>>>>>", "|||||||"} {
		if string(line[:7]) != marker {
			continue
		}
		if rest := line[7:]; len(rest) == 0 || rest[0] == ' ' || rest[0] == '\r' {
			return marker
		}
	}
	return ""
}

// invalidUTF8 returns the column of the first byte that is not UTF-8, 0 if
// there is none.
func invalidUTF8(line []byte) int {
	if utf8.Valid(line) {
		return 0
	}
	col := 1
	for i := 0; i < len(line); col++ {
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			return col
		}
		i += n
	}
	return 0
}

// byteOffset is the offset of the character in column col.
func byteOffset(line []byte, col int) int {
	i := 0
	for ; col > 1; col-- {
		_, n := utf8.DecodeRune(line[i:])
		i += n
	}
	return i
}
