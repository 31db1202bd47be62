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
	// Pos is the place of the key or value. If a key is missing, Pos is the place
	// of the mapping that lacks it.
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

// String returns the problem in one line, with its place.
func (p Problem) String() string {
	return fmt.Sprintf("line %d, column %d: ", p.Pos.Line, p.Pos.Column) + p.withoutPlace()
}

// withoutPlace is String without the place.
func (p Problem) withoutPlace() string {
	out := p.Message
	if p.Suggestion != "" {
		out += fmt.Sprintf("; did you mean %q?", p.Suggestion)
	}
	if p.Hint != "" {
		out += " (" + p.Hint + ")"
	}
	return wording.Printable(out)
}

// InvalidError is the error for a configuration that cannot be used: exit status
// 2. It has every problem that was found, in the order of the file.
type InvalidError struct {
	// Source says where the configuration was read, as given to Parse.
	Source   string
	Problems []Problem
	// Err is the error of reading a schema that the configuration names; nil if there was none.
	Err error
}

// Unwrap returns the error of reading a schema; nil if there was none.
func (e *InvalidError) Unwrap() error { return e.Err }

// maxPrinted is how many problems the text of an InvalidError lists.
const maxPrinted = 20

// Error names the source and lists the problems, one to a line. Unprintable
// characters from the file are escaped.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s\n  %s", e.headline(), strings.Join(e.lines(), "\n  "))
}

func (e *InvalidError) headline() string {
	return fmt.Sprintf("the configuration (%s) is not valid", wording.Printable(e.Source))
}

// lines returns a line for each problem, and one that counts those beyond maxPrinted.
func (e *InvalidError) lines() []string {
	var out []string
	for i, p := range e.Problems {
		if i == maxPrinted {
			return append(out, fmt.Sprintf("and %d more", len(e.Problems)-i))
		}
		out = append(out, p.String())
	}
	return out
}

// As lets errors.As turn the error into a [failure.Error], whose message is one line.
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
