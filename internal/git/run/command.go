package gitcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// grace is the time that an interrupted git has to remove its locks, and the time that we wait for processes that git has left running (a hook's
// child, a lazy fetch).
const grace = 5 * time.Second

// Git says how to run git. The zero value runs the git on PATH in the current directory with this process's own environment; [Reading] and
// [Working] make better environments.
type Git struct {
	// Program is git's path; empty means "git", looked up on PATH.
	Program string
	// Dir is where git runs; empty is the current directory.
	Dir     string
	Environ []string
	// Options are git's options before the subcommand, such as -c NAME=VALUE.
	Options []string
}

// Result is the result of a git that ran to its end.
type Result struct {
	Status int
	// Out is all of standard output.
	Out []byte
	// Stderr is the first 64 KiB of standard error, to which hooks write too.
	Stderr string
}

// Command prepares a git process. When the context ends, the process is interrupted, so that it can remove its locks. On Linux it also ends when
// this process ends, even by a kill.
func (g Git) Command(ctx context.Context, args ...string) *exec.Cmd {
	program := g.Program
	if program == "" {
		program = "git"
	}
	all := make([]string, 0, len(g.Options)+len(args))
	cmd := exec.CommandContext(ctx, program, append(append(all, g.Options...), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.SysProcAttr = g.Dir, g.Environ, grace, dieWithParent()
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) { // Windows has no such signal
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd
}

// Run runs git to its end. A status other than 0 is a result and no error. The error says that git could not be started, was killed, or was
// stopped because the context ended.
func (g Git) Run(ctx context.Context, stdin io.Reader, args ...string) (Result, error) {
	var out bytes.Buffer
	var said Stderr
	cmd := g.Command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	err := cmd.Run()
	done := Result{Out: out.Bytes(), Stderr: said.String()}
	var exit *exec.ExitError
	switch {
	case endOf(ctx, err) != nil:
		return done, &Error{Command: Subcommand(args), Err: ctx.Err()}
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return done, nil
	case errors.As(err, &exit) && exit.Exited():
		done.Status = exit.ExitCode()
		return done, nil
	}
	return done, &Error{Command: Subcommand(args), Err: err, Stderr: done.Stderr}
}

// Output runs git and returns its standard output, even after an error. A status other than 0 is an [Error].
func (g Git) Output(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	done, err := g.Run(ctx, stdin, args...)
	if err == nil && done.Status != 0 {
		err = &Error{Command: Subcommand(args), Status: done.Status, Stderr: done.Stderr}
	}
	return done.Out, err
}

// Stream runs git and passes its output to read while git runs. If read returns an error, git is stopped. Otherwise read must have read all of
// the output.
func (g Git) Stream(ctx context.Context, stdin io.Reader, read func(*bufio.Reader) error, args ...string) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var said Stderr
	cmd := g.Command(inner, args...)
	cmd.Stdin, cmd.Stderr = stdin, &said
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return newError(ctx, args, err, &said)
	}
	readErr := read(bufio.NewReaderSize(stdout, 64<<10))
	if readErr != nil && !errors.Is(readErr, io.ErrUnexpectedEOF) {
		stop()
		cmd.Wait() //nolint:errcheck // it was stopped because of readErr
		if ctx.Err() != nil {
			return newError(ctx, args, ctx.Err(), &said)
		}
		return readErr
	}
	// If the output ended early, git's own error takes precedence.
	if err := cmd.Wait(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return newError(ctx, args, err, &said)
	}
	return readErr
}
