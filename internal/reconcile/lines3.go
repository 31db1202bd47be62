package reconcile

import (
	"bytes"
	"slices"
)

// merge3 brings two versions of some lines together that had a common origin
// (nil for none): what only one side changed is taken from it, comments and
// blank lines of both are kept. Where nothing says which of two other lines is
// right, a's are taken, and clash is true.
func merge3(origin, a, b [][]byte) (out [][]byte, clash bool) {
	if origin == nil {
		origin = common(a, b)
	}
	inA, inB := matches(origin, a), matches(origin, b)
	at, atA, atB := 0, 0, 0
	for next := 0; next <= len(origin); next++ {
		endA, endB := len(a), len(b)
		if next < len(origin) {
			if endA, endB = inA[next], inB[next]; endA < 0 || endB < 0 {
				continue
			}
		}
		part, clashed := mergePart(origin[at:next], a[atA:endA], b[atB:endB])
		out, clash = append(out, part...), clash || clashed
		if next < len(origin) {
			out = append(out, origin[next])
		}
		at, atA, atB = next+1, endA+1, endB+1
	}
	return out, clash
}

// mergePart merges lines between two that are the same everywhere.
func mergePart(origin, a, b [][]byte) (out [][]byte, clash bool) {
	switch {
	case slices.EqualFunc(a, b, bytes.Equal), slices.EqualFunc(origin, b, bytes.Equal):
		return a, false
	case slices.EqualFunc(origin, a, bytes.Equal):
		return b, false
	case !slices.ContainsFunc(slices.Concat(a, b), func(line []byte) bool { return !isRemark(line) }):
		return union(a, b), false
	case len(a) != len(b):
		return a, true
	}
	for i := range a {
		longer := b[i]
		if bytes.Equal(a[i], b[i]) || remarks(a[i], b[i]) {
			longer = a[i]
		} else if !remarks(b[i], a[i]) {
			return a, true
		}
		out = append(out, longer)
	}
	return out, false
}

// union is all lines of two lists, those once that both have in the same order.
func union(a, b [][]byte) [][]byte {
	var out [][]byte
	for _, line := range common(a, b) {
		for !bytes.Equal(a[0], line) {
			out, a = append(out, a[0]), a[1:]
		}
		for !bytes.Equal(b[0], line) {
			out, b = append(out, b[0]), b[1:]
		}
		out, a, b = append(out, line), a[1:], b[1:]
	}
	return slices.Concat(out, a, b)
}

// isRemark reports whether a line is a comment or blank, where it is no part of
// a scalar.
func isRemark(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) == 0 || text[0] == '#'
}

// remarks reports whether a line is another one with a comment behind it.
func remarks(line, plain []byte) bool {
	rest, longer := bytes.CutPrefix(line, bytes.TrimRight(plain, " \t\r\n"))
	return longer && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("#"))
}

// common is the longest list of lines that two lists have in the same order.
func common(a, b [][]byte) [][]byte {
	var out [][]byte
	for i, j := range matches(a, b) {
		if j >= 0 {
			out = append(out, a[i])
		}
	}
	return out
}

// matchedCells bounds the work of matches. Above it only what both lists begin
// and end with is matched.
const matchedCells = 1 << 22

// matches says for each line of a which line of b it is, -1 for none: as many as
// can be, in order.
func matches(a, b [][]byte) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	start := 0
	for start < min(len(a), len(b)) && bytes.Equal(a[start], b[start]) {
		out[start] = start
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && bytes.Equal(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
		out[endA] = endB
	}
	n, m := endA-start, endB-start
	if n == 0 || m == 0 || n > matchedCells/m {
		return out
	}
	// longest[i][j] is how many lines of a from i and of b from j can be matched.
	longest := make([][]int32, n+1)
	for i := range longest {
		longest[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if bytes.Equal(a[start+i], b[start+j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case bytes.Equal(a[start+i], b[start+j]):
			out[start+i] = start + j
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
