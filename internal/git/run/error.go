package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Error is a git that failed.
type Error struct {
	// Command is the subcommand.
	Command string
	// Status is git's exit status; 0 if it did not end by itself.
	Status int
	// Stderr is git's error output.
	Stderr string
	// Err is why it did not end by itself, such as the context's error; nil if it did.
	Err error
}

// Error is the message: one line, safe to print.
func (e *Error) Error() string {
	said := OneLine(e.Stderr)
	switch {
	case said == "" && e.Err != nil:
		return fmt.Sprintf("git %s: %v", e.Command, e.Err)
	case said == "":
		return fmt.Sprintf("git %s: exit status %d", e.Command, e.Status)
	case e.Command == "rev-parse": // few people know this command
		return "git says: " + strings.TrimPrefix(said, "fatal: ")
	}
	return fmt.Sprintf("git %s: %s", e.Command, said)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitedWith reports whether err is from a git that ended with this status.
func ExitedWith(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Err == nil && e.Status == status
}

// NotFound is the failure for a machine without git, or one whose PATH does not lead to it.
func NotFound(err error) *failure.Error {
	return &failure.Error{Message: "git was not found: " + wording.Printable(err.Error()), Remedy: "install git, or add its directory to PATH", Err: err}
}

// IsNotFound reports whether there is no git to run.
func IsNotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot)
}

func failed(ctx context.Context, args []string, err error, said *Stderr) error {
	e := &Error{Command: Subcommand(args), Stderr: said.String(), Err: err}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return &Error{Command: e.Command, Err: ctx.Err()}
	case errors.As(err, &exit) && exit.Exited():
		e.Status, e.Err = exit.ExitCode(), nil
	}
	return e
}

// Subcommand is the subcommand in git's arguments, after any -c options. args must not be empty.
func Subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// Stderr keeps the beginning of a process's standard error. It must be escaped before printing.
type Stderr struct{ text bytes.Buffer }

const stderrSize = 64 << 10 // bytes

// Write accepts everything and keeps the first stderrSize bytes.
func (c *Stderr) Write(p []byte) (int, error) {
	if room := stderrSize - c.text.Len(); room > 0 {
		c.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String is the kept text.
func (c *Stderr) String() string { return strings.TrimSpace(c.text.String()) }

// OneLine is the beginning of a text as one line that is safe to print, cut off after 2,000 bytes.
func OneLine(text string) string {
	const most = 2000 // bytes
	lines := strings.FieldsFunc(text[:min(most, len(text))], func(c rune) bool { return c == '\n' || c == '\r' })
	return wording.Printable(strings.Join(lines, "; "))
}
