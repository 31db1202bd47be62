package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Error says how a git command failed.
type Error struct {
	// Command is the subcommand.
	Command string
	// Status is git's exit status; 0 if git did not start or was stopped.
	Status int
	// Stderr is git's error output.
	Stderr string
	// Err says why git did not start or was stopped, such as the context's error; nil if git ended by itself.
	Err error
}

// Error returns the message: one line, safe to print.
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

// ExitedWith reports whether err says that git ended by itself with this status.
func ExitedWith(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Err == nil && e.Status == status
}

// NotFound returns the failure if there is no git on PATH.
func NotFound(err error) *failure.Error {
	return &failure.Error{Message: "git was not found: " + wording.Printable(err.Error()), Remedy: "install git, or add its directory to PATH", Err: err}
}

// IsNotFound reports whether err says that there is no git to run.
func IsNotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot)
}

// newError makes an Error from err, the error of a git process, or from the context's error if the context ended.
func newError(ctx context.Context, args []string, err error, said *Stderr) error {
	e := &Error{Command: Subcommand(args), Stderr: said.String(), Err: err}
	var exit *exec.ExitError
	switch {
	case endOf(ctx, err) != nil:
		return &Error{Command: e.Command, Err: ctx.Err()}
	case errors.As(err, &exit) && exit.Exited():
		e.Status, e.Err = exit.ExitCode(), nil
	}
	return e
}

// signalDelay is the longest time between a signal's arrival in git and its arrival in this process.
const signalDelay = time.Second

// endOf returns the error of a context that has ended; nil if it has not. err is the error of a git process. A terminal sends an interrupt to git and to
// this process. If git died of one, endOf waits for this process to notice it too.
func endOf(ctx context.Context, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, is := exit.Sys().(syscall.WaitStatus); is && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM) {
			select {
			case <-ctx.Done():
			case <-time.After(signalDelay):
			}
		}
	}
	return ctx.Err()
}

// Subcommand returns the subcommand in git's arguments, after any -c options. args must not be empty.
func Subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// Stderr keeps the beginning of a process's standard error. Escape the text before printing it.
type Stderr struct{ text bytes.Buffer }

const stderrSize = 64 << 10 // bytes

// Write keeps the first stderrSize bytes and drops the rest.
func (c *Stderr) Write(p []byte) (int, error) {
	if room := stderrSize - c.text.Len(); room > 0 {
		c.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String returns the kept text, without space around it.
func (c *Stderr) String() string { return strings.TrimSpace(c.text.String()) }

// OneLine returns the first 2,000 bytes of a text as one line that is safe to print.
func OneLine(text string) string {
	const most = 2000 // bytes
	lines := strings.FieldsFunc(text[:min(most, len(text))], func(c rune) bool { return c == '\n' || c == '\r' })
	return wording.Printable(strings.Join(lines, "; "))
}
