package content

import "strings"

// Step is a part of a fix: words, or a command.
type Step struct {
	Text    string
	Command bool
}

// Steps splits a fix or a remedy, shortened by Lines, into words and commands. Text in backticks or on an indented line is a command. Words that only
// separate two commands are left out, because each step gets its own line.
func Steps(fix string) (out []Step) {
	for text := range strings.SplitSeq(Lines(fix), "\n") {
		pieces := strings.Split(text, "`")
		if command := strings.TrimLeft(text, " "); command != text && command != "" && len(pieces) == 1 {
			out = append(out, Step{command, true})
			continue
		}
		if len(pieces)%2 == 0 { // a backtick is left over
			pieces = []string{text}
		}
		for i, piece := range pieces {
			command := i%2 == 1
			if !command {
				piece = strings.TrimLeft(strings.TrimSpace(piece), ",;. ")
			}
			if piece != "" && (command || piece != "and" && piece != "then") {
				out = append(out, Step{piece, command})
			}
		}
	}
	return out
}
