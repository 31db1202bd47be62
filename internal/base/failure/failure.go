// Package failure has the one error for everything that could not be done or judged, with its remedy. A program that meets one ends with exit status 2.
package failure

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// Error says what failed and what to type next. An error with data of its own converts to this type through an As method.
type Error struct {
	// Message is one sentence on what is missing or wrong, and where.
	Message string
	// Remedy is the command to type or the line to add; empty if there is none.
	Remedy string
	// Err is the cause, for errors.Is and errors.As. The message already has what matters of it.
	Err error
}

// Error returns the message, with the remedy below it. For only the message, or only the remedy, use the fields: see Of.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Remedy
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsComplete reports whether err needs no message or remedy of a caller: it is nil, has an Error in its chain, or says that a context has ended.
func IsComplete(err error) bool {
	var e *Error
	return err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Of returns the first Error in the chain of err, or one with err's message. It is nil for nil. If the disk is full, or one of git's locks is in
// the way, the remedy is about that: nothing else helps before.
func Of(err error) *Error {
	var e *Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &e) {
		e = &Error{Message: err.Error(), Err: err}
	}
	if isDiskFull(e.Message) {
		e = &Error{Message: e.Message, Remedy: "no space left on the disk: make room, then type the same command again", Err: e} // e may be shared
	}
	_, rest, locked := strings.Cut(e.Message, "Unable to create '")
	if lock, _, there := strings.Cut(rest, ".lock': File exists"); locked && there {
		e = &Error{Message: e.Message, Remedy: "if no git is at work here, one has died: `rm -f " + wording.ShellQuote(lock+".lock") + "`; then type the same command again", Err: e}
	}
	return e
}

// isDiskFull reports whether a message of an operating system says that a disk is full, or a user's part of it.
func isDiskFull(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"no space left", "not enough space on the disk", "quota exceeded"}, func(words string) bool { return strings.Contains(message, words) })
}
