package hook

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/failure"
)

// Kinds of error, to be told apart with [errors.Is]. All of them mean outcome 2.
var (
	// ErrNoRepository says that the directory is in no git repository.
	ErrNoRepository = errors.New("no git repository")
	// ErrNoWorkTree says that the directory is inside a repository's own folder, where no hook is run.
	ErrNoWorkTree = errors.New("not in a work tree")
	// ErrBare says that client hooks were asked for in a bare repository.
	ErrBare = errors.New("bare repository")
	// ErrGit says that git is missing or refused to answer.
	ErrGit = errors.New("git failed")
	// ErrProgram says that the program which hooks should call cannot be used.
	ErrProgram = errors.New("unusable program")
	// ErrTemporaryProgram says that the program is a temporary build of "go run".
	ErrTemporaryProgram = errors.New("temporary program")
	// ErrEdited says that a hook of ours was edited by hand, so that it is not replaced.
	ErrEdited = errors.New("edited hook")
	// ErrKept says that a hook cannot be kept because another one is kept already.
	ErrKept = errors.New("another hook is kept already")
	// ErrInput says that what git handed to a hook cannot be read.
	ErrInput = errors.New("malformed hook input")
	// ErrFile says that a file or directory cannot be read or written.
	ErrFile = errors.New("file trouble")
)

// Error is what every function of this package returns when it fails.
type Error struct {
	// Kind is one of the Err values of this package.
	Kind error
	// What says what went wrong, and where.
	What string
	// Remedy says what to type or change next; it may be empty.
	Remedy string
	// Cause is the underlying error, or nil.
	Cause error
}

// Error joins what happened, why, and what to do.
func (e *Error) Error() string { return e.failure().Error() }

func (e *Error) failure() *failure.Error {
	text := e.What
	if e.Cause != nil {
		text += ": " + show(e.Cause.Error())
	}
	return &failure.Error{Message: text, Remedy: e.Remedy, Err: e}
}

// As makes errors.As see the error that all packages share.
func (e *Error) As(target any) bool {
	f, ok := target.(**failure.Error)
	if ok {
		*f = e.failure()
	}
	return ok
}

// Unwrap gives errors.Is and errors.As the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// fileError wraps a failed file operation on path. The remedy is the one that helps with missing permission and a full or
// read-only disk alike.
func fileError(doing, path string, cause error) error {
	return &Error{
		Kind:   ErrFile,
		What:   fmt.Sprintf("cannot %s %s", doing, show(path)),
		Remedy: "Make sure that you may write there, then run the command again. What was there before still works.",
		Cause:  cause,
	}
}

// typed makes a path fit for a command that a person is to type: one word of a shell, or quoted like other text if it does not print.
func typed(path string) string {
	if show(path) != path {
		return show(path)
	}
	return quoteShell(filepath.ToSlash(path))
}

// show makes text from outside fit for one line of a terminal: anything that does not print is quoted.
func show(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0 {
		return text
	}
	return strconv.Quote(text)
}
