package reconcile

import (
	"bytes"
	"fmt"
	"strconv"
)

// commentOf is what may be a comment of a line: all from a number sign on that
// begins the line or follows white space (YAML 1.1, section 4.2.2). Empty if
// there is none. A scalar's text can look the same.
func commentOf(line []byte) string {
	for i, c := range line {
		if c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return string(bytes.TrimSpace(line[i:]))
		}
	}
	return ""
}

// commentsOf are all comments of a text.
func commentsOf(text []byte) map[string]bool {
	out := map[string]bool{}
	for _, line := range splitLines(text) {
		if comment := commentOf(line); comment != "" {
			out[comment] = true
		}
	}
	return out
}

// lost says which comments of a side a result lacks, though nobody took them out,
// and where they are to be found.
func (l *log) lost(result []byte) []string {
	there, taken := commentsOf(result), map[string]bool{}
	for _, v := range l.versions {
		in := commentsOf(v.Data)
		for _, w := range l.versions {
			for _, base := range w.Bases {
				for comment := range commentsOf(base) {
					taken[comment] = taken[comment] || !in[comment]
				}
			}
		}
	}
	var notes []string
	for _, v := range l.versions {
		for i, line := range splitLines(v.Data) {
			comment := commentOf(line)
			if comment == "" || there[comment] || taken[comment] {
				continue
			}
			there[comment] = true
			notes = append(notes, fmt.Sprintf("a comment of %s is not in it, line %d of git show %s:%s says: %s",
				v.Name, i+1, v.ID, quoted(l.path), strconv.Quote(comment)))
		}
	}
	return notes
}
