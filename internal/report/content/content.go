// Package content makes the texts of a report that several formats share: the outcome, groups of findings, their entries and changes. The texts are safe
// to print; each format escapes them for itself.
package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// The limits of formats for people. JSON has everything.
const (
	MaxFindings = 50  // findings shown in full
	MaxWaived   = 10  // waived findings, one line each
	MaxNotes    = 100 // notes, and other rows
	MaxChanges  = 8   // fields of one finding
	MaxText     = 600 // characters of one message
	MaxPath     = 400 // characters of one path
	MaxName     = 100 // characters of a task id, a timestamp, a field
	Width       = 100 // columns of a value's line, if the reader's are not known

	maxInGroup = 3           // findings of one rule in one file and commit
	maxLine    = 2 * MaxText // characters of one line of a fix
	maxCommand = 32 << 10    // characters of one line with a command: there is room for the longest paths, because a command that is cut short is another command
	maxFields  = 30          // fields of a deleted or inserted entry
	maxLines   = 12          // lines of a fix, a remedy, or a field of such an entry
	maxRules   = 10          // rules that are counted by name
)

// Text shortens a sentence or a line to MaxText.
func Text(s string) string { return sanitize.Clip(s, MaxText) }

// Path shortens a file's path to MaxPath.
func Path(s string) string { return sanitize.Clip(s, MaxPath) }

// Name shortens an id, a timestamp or a field's name to MaxName.
func Name(s string) string { return sanitize.Clip(s, MaxName) }

// NameOr is [Name], or other in brackets if s is empty.
func NameOr(s, other string) string {
	if s == "" {
		return "(" + other + ")"
	}
	return Name(s)
}

// Lines shortens a text of several lines: the number of lines, and each line.
func Lines(s string) string {
	all := strings.Split(strings.ReplaceAll(strings.TrimSpace(secret.Mask(s)), "\r\n", "\n"), "\n")
	out := make([]string, 0, min(len(all), maxLines+1))
	for i, line := range all {
		if i == maxLines {
			out = append(out, sanitize.More(strings.Join(all[i:], "\n")))
			break
		}
		out = append(out, sanitize.Clip(line, LineWidth(line)))
	}
	return strings.Join(out, "\n")
}

// LineWidth returns how many characters are shown of a line of a fix, or of a note.
func LineWidth(line string) int {
	if strings.Contains(line, "`") {
		return maxCommand
	}
	return maxLine
}

// UpperFirst makes the first letter a capital.
func UpperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Sentence ends a text with a full stop.
func Sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
