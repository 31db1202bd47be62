package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Pos is the place of the key or value. Where something is missing, it is
	// the place of what lacks it.
	Pos small.Pos
	// Subject is the path of the value inside the document, such as
	// "waivers.2.from"; empty for the document as a whole.
	Subject string
	// Message is one sentence in lower case, without a final period. It may
	// quote the file.
	Message string
	// Hint says what to type or edit, where that is not obvious.
	Hint string
	// Suggestion is the known key, rule id or value that a misspelt one was
	// probably meant to be; empty if none is near.
	Suggestion string
}

// String is the problem in one line, with its place.
func (p Problem) String() string {
	out := fmt.Sprintf("line %d, column %d: %s", p.Pos.Line, p.Pos.Column, p.Message)
	if p.Suggestion != "" {
		out += fmt.Sprintf("; did you mean %q?", p.Suggestion)
	}
	if p.Hint != "" {
		out += " (" + p.Hint + ")"
	}
	return printable(out)
}

// InvalidError is a configuration that cannot be used: outcome 2. It holds
// every problem that was found, in the order of the file.
type InvalidError struct {
	// Source says where the configuration was read, as given to Parse.
	Source   string
	Problems []Problem
}

// mostPrinted bounds the text of an InvalidError, whatever the file is.
const mostPrinted = 20

// Error names the source and lists the problems, one to a line. Text of the
// file is in it, with everything escaped that is not printable.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration (%s) is not valid", printable(e.Source))
	for i, p := range e.Problems {
		if i == mostPrinted {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Problems)-i)
			break
		}
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// printable escapes what a terminal or a log would act upon: control and
// formatting characters, line breaks included.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
