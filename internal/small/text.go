package small

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

var lineFeed = []byte("\n")

// checkText refuses what must not reach the YAML parser: too large a file, a Git LFS pointer, conflict markers, bytes
// that are not UTF-8, too much structure and too many directives. It returns the amount of structure, and whether all
// lines are plain.
func checkText(data []byte, limits Limits) (structure int, plain bool, problem *Problem) {
	if size := int64(len(data)); size > limits.FileSize() {
		tooLarge := TooLarge(size, limits)
		return 0, false, &tooLarge
	}
	if IsLFSPointer(data) {
		pointer := LFSPointer
		pointer.Hint = "remove .small/ from the LFS patterns in .gitattributes and commit the file itself"
		return 0, false, &pointer
	}
	directives := 0
	plain = true
	for line, rest := 1, data; len(rest) > 0; line++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, lineFeed)
		if p := checkLine(text, line); p != nil {
			return 0, false, p
		}
		n, plainLine := measureLine(text)
		plain = plain && plainLine
		if structure += n; structure > limits.Structure() {
			return 0, false, &Problem{
				Kind: ProblemTooLarge, Pos: Pos{line, 1},
				Message: fmt.Sprintf("the file has more than %d lines, keys and list items up to here", limits.Structure()),
				Hint:    "keep logs and outputs outside .small/ and refer to them",
			}
		}
		if len(text) == 0 || text[0] != '%' {
			continue
		}
		if directives++; directives > maxDirectives {
			return 0, false, &Problem{
				Kind: ProblemYAML, Pos: Pos{line, 1},
				Message: fmt.Sprintf("more than %d lines begin with %%, as YAML directives do", maxDirectives),
			}
		}
	}
	return structure, plain, nil
}

func checkLine(text []byte, line int) *Problem {
	if marker := ConflictMarker(text, MarkerSize); marker != 0 && marker != '=' {
		return conflictProblem(marker, line)
	}
	if utf8.Valid(text) {
		return nil
	}
	col, bad := findRune(text, func(r rune, n int) bool { return r == utf8.RuneError && n == 1 })
	return &Problem{
		Kind: ProblemYAML, Pos: Pos{line, col},
		Message: fmt.Sprintf("the byte 0x%02x here is not valid UTF-8", bad[0]),
		Hint:    "save the file as UTF-8",
	}
}

// StructureOf counts the places in one line at which YAML nodes can begin; only a few nodes begin at one place. It
// counts every line break of YAML 1.1, as the parser ends lines there.
func StructureOf(text []byte) int {
	n, _ := measureLine(text)
	return n
}

// noStructure is true for the ASCII characters that are plain and begin no node.
var noStructure = func() (out [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		out[c] = bytes.IndexByte([]byte(",[{?:-"), c) < 0
	}
	return out
}()

// measureLine is StructureOf, and reports whether all characters are plain (isPlainStart).
func measureLine(text []byte) (structure int, plain bool) {
	structure, plain = 1, true
	for i, c := range text {
		if noStructure[c] {
			continue
		}
		switch c {
		case ':', '-':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				structure++
			}
		case ',', '[', '{', '?', '\r':
			structure++
		case 0x85, 0xa8, 0xa9: // perhaps the last byte of NEL, LS or PS
			if before := text[:i]; bytes.HasSuffix(before, []byte{0xc2}) || bytes.HasSuffix(before, []byte{0xe2, 0x80}) {
				structure++
			}
		}
		plain = plain && isPlainStart(text[i:])
	}
	return structure, plain
}

// isPlainStart reports whether the parser takes the first character of a text for an ordinary one: no control
// character, byte order mark, noncharacter or Unicode line break.
func isPlainStart(text []byte) bool {
	switch r, _ := utf8.DecodeRune(text); r {
	case '\t', '\n':
		return true
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return false
	default:
		return r >= ' ' && (r < 0x7f || r >= 0xa0)
	}
}

// lfsMagic opens every Git LFS pointer file (git-lfs specification, "The
// Pointer").
var lfsMagic = []byte("version https://git-lfs.github.com/spec/v1")

// LFSPointer is the problem of a Git LFS pointer in place of a file.
var LFSPointer = Problem{
	Kind: ProblemNotAFile, Pos: Pos{1, 1},
	Message: "the file is a Git LFS pointer, not the file itself",
	Hint:    "remove it from the LFS patterns in .gitattributes and commit the file itself",
}

// IsLFSPointer reports whether data is a Git LFS pointer.
func IsLFSPointer(data []byte) bool {
	return len(data) < 1024 && bytes.HasPrefix(data, lfsMagic)
}

// findRune returns the column of the first character that matches, and the text from there on; 0 and nil if there is
// none. size is the character's length in bytes.
func findRune(line []byte, matches func(r rune, size int) bool) (column int, from []byte) {
	column = 1
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if matches(r, n) {
			return column, line
		}
		line = line[n:]
		column++
	}
	return 0, nil
}
