package history

import (
	"strings"
)

// trailer is one line at the end of a commit message, such as "Small-Agent: agent-1".
type trailer struct{ Name, Value string }

// gitTrailers begin lines that git itself adds to the trailers.
var gitTrailers = []string{"Signed-off-by: ", "(cherry picked from commit "}

// TrailersOf reads a message's trailers as git does (git-interpret-trailers(1),
// --parse --no-divider): the last paragraph, unless it is the first, if it
// consists of trailers, or of at least a quarter of them and one of git's own.
// A line that begins with white space goes on with the one before, after one
// space (--unfold). A title in the message's first line is never a trailer.
func TrailersOf(message string) []trailer {
	lines := strings.Split(strings.ReplaceAll(message, "\r\n", "\n"), "\n")
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	begin := end
	for begin > 0 && strings.TrimSpace(lines[begin-1]) != "" {
		begin--
	}
	if !hasText(lines[:begin]) {
		return nil
	}
	var out []trailer
	others, byGit := 0, false
	for _, line := range lines[begin:end] {
		if line[0] == ' ' || line[0] == '\t' {
			if len(out) > 0 {
				last := &out[len(out)-1]
				last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(line))
			} else {
				others++
			}
			continue
		}
		for _, prefix := range gitTrailers {
			byGit = byGit || strings.HasPrefix(line, prefix)
		}
		if t, ok := parseTrailer(line); ok {
			out = append(out, t)
		} else if !strings.HasPrefix(line, gitTrailers[1]) {
			others++
		}
	}
	if others == 0 || byGit && 3*len(out) >= others {
		return out
	}
	return nil
}

func hasText(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return true
		}
	}
	return false
}

// parseTrailer reads one line. A name consists of letters, digits and hyphens; white space may precede the colon.
func parseTrailer(line string) (trailer, bool) {
	name, value, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	if !ok || name == "" || strings.IndexFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-'
	}) >= 0 {
		return trailer{}, false
	}
	return trailer{Name: name, Value: strings.TrimSpace(value)}, true
}
