package githistory

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// drain bounds how long a finished process is waited for when a process that
// it started (git's lazy fetch) still holds its output.
const drain = 5 * time.Second

// oldGit is what to do about a git that does not answer what is asked here.
const oldGit = "install a newer git (2.38 or later)"

// command prepares a git process that ends when the context does.
func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	all := make([]string, 0, len(r.config)+len(args))
	all = append(append(all, r.config...), args...)
	cmd := exec.CommandContext(ctx, r.git, all...)
	cmd.Dir = r.dir
	cmd.Env = r.environ
	cmd.WaitDelay = drain
	cmd.SysProcAttr = dieWithParent()
	return cmd
}

// output runs git to its end and returns what it printed, also when it fails.
func (r *Repo) output(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	var stdout bytes.Buffer
	var stderr excerpt
	cmd := r.command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err := cmd.Run()
	return stdout.Bytes(), commandFailure(ctx, args, err, &stderr)
}

// stream runs git and hands its output to read as it comes. If read returns an
// error git is stopped; otherwise read must have come to the output's end.
func (r *Repo) stream(ctx context.Context, stdin io.Reader, read func(*bufio.Reader) error, args ...string) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var stderr excerpt
	cmd := r.command(inner, args...)
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return commandFailure(ctx, args, err, &stderr)
	}
	if err := cmd.Start(); err != nil {
		return commandFailure(ctx, args, err, &stderr)
	}
	readErr := read(bufio.NewReaderSize(stdout, 64<<10))
	if readErr != nil && !errors.Is(readErr, io.ErrUnexpectedEOF) {
		stop()
		cmd.Wait() //nolint:errcheck // it was stopped because of readErr
		if ctx.Err() != nil {
			return commandFailure(ctx, args, ctx.Err(), &stderr)
		}
		return readErr
	}
	// Output that ends early is git's failure if git says so.
	if err := cmd.Wait(); err != nil {
		return commandFailure(ctx, args, err, &stderr)
	}
	return readErr
}

// commandError is a git process that failed.
type commandError struct {
	name   string // the subcommand
	err    error
	stderr string
}

func (e *commandError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("git %s: %v", e.name, e.err)
	}
	if e.name == "rev-parse" { // of which people have not heard
		return "git says: " + strings.TrimPrefix(e.stderr, "fatal: ")
	}
	return fmt.Sprintf("git %s: %s", e.name, e.stderr)
}

func (e *commandError) Unwrap() error { return e.err }

// exitedWith reports whether err is a git process that ended with the status.
func exitedWith(err error, status int) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == status
}

func commandFailure(ctx context.Context, args []string, err error, stderr *excerpt) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return &commandError{name: args[0], err: ctx.Err()}
	}
	return &commandError{name: args[0], err: err, stderr: stderr.String()}
}

// failure makes outcome 2 of an error, unless it is one already or the context
// ended. It returns nil for nil.
func (r *Repo) failure(message string, err error) error {
	return r.failureWith(message, "see what is damaged: `git fsck`", err)
}

// failureWith is failure with another remedy than that for damage.
func (r *Repo) failureWith(message, remedy string, err error) error {
	var done *failure.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return gitNotFound(err)
	}
	return &failure.Error{Message: message + ": " + wording.Printable(err.Error()), Remedy: remedy, Err: err}
}

func gitNotFound(err error) error {
	return &failure.Error{Message: "git was not found: " + wording.Printable(err.Error()), Remedy: "install git, or add its directory to PATH", Err: err}
}

// excerpt keeps the beginning of what a process writes to standard error.
type excerpt struct{ kept bytes.Buffer }

const excerptSize = 2000 // bytes

// Write takes everything and keeps the first excerptSize bytes.
func (e *excerpt) Write(p []byte) (int, error) {
	if room := excerptSize - e.kept.Len(); room > 0 {
		e.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String is the kept text on one line, without anything that a terminal would
// act on.
func (e *excerpt) String() string {
	lines := strings.FieldsFunc(e.kept.String(), func(c rune) bool { return c == '\n' || c == '\r' })
	return wording.Printable(strings.Join(lines, "; "))
}
