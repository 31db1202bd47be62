package policy

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Pos is the place of the key or value. If something is missing, it is
	// the place of what lacks it.
	Pos small.Pos
	// Subject is the path of the value inside the document, such as
	// "waivers.2.from"; empty for the document as a whole.
	Subject string
	// Message is one sentence in lower case, without a final period. It may
	// quote the file.
	Message string
	// Hint says what to type or edit, if that is not obvious.
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
	return wording.Printable(out)
}

// InvalidError is a configuration that cannot be used: outcome 2. It holds
// every problem that was found, in the order of the file.
type InvalidError struct {
	// Source says where the configuration was read, as given to Parse.
	Source   string
	Problems []Problem
	// Err is why a file that the configuration names could not be read, if that is a problem.
	Err error
}

// Unwrap is the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// mostPrinted bounds the text of an InvalidError, whatever the file is.
const mostPrinted = 20

// Error names the source and lists the problems, one to a line. Text of the
// file is in it, with everything that is not printable escaped.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s\n  %s", e.headline(), strings.Join(e.lines(), "\n  "))
}

func (e *InvalidError) headline() string {
	return fmt.Sprintf("the configuration (%s) is not valid", wording.Printable(e.Source))
}

// lines are the problems and, if there are too many, how many more there are.
func (e *InvalidError) lines() []string {
	var out []string
	for i, p := range e.Problems {
		if i == mostPrinted {
			return append(out, fmt.Sprintf("and %d more", len(e.Problems)-i))
		}
		out = append(out, p.String())
	}
	return out
}

// As makes it a [failure.Error], in one sentence, for callers of errors.As.
func (e *InvalidError) As(target any) bool {
	f, ok := target.(**failure.Error)
	if ok {
		*f = &failure.Error{
			Message: e.headline() + ": " + strings.Join(e.lines(), "; "),
			Remedy:  "correct it there; " + EveryKey,
			Err:     e,
		}
	}
	return ok
}
