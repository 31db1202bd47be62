//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/cli"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Ctrl-C ends a running audit with the status that shells expect. The repository is a clone without file contents: the audit has git fetch
// them, and the fetch blocks, so the audit is at work when the signal arrives.
func TestAuditInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			origin := gittest.New(t)
			origin.Git("config", "uploadpack.allowFilter", "true")
			origin.Write(".small/progress.small.yml", "small_version: \"1.0.0\"\nowner: agent\nentries: []\n")
			origin.Commit("start")
			clone := origin.Clone("--filter=blob:none", "--no-checkout")
			began, never := fifo(t), fifo(t)
			clone.Git("config", "remote.origin.uploadpack", script(t, fmt.Sprintf("echo fetching >%s\nread -r line <%s\n", began, never)))

			program := exec.Command(self(t), "audit")
			program.Args[0] = "small-hook"
			program.Dir, program.Env = clone.Dir, clone.Environ()
			// As on a terminal: the program and its children get the signal.
			program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stderr := start(t, program)
			if _, err := os.ReadFile(began); err != nil { // until the fetch runs
				t.Fatal(err)
			}
			if err := syscall.Kill(-program.Process.Pid, signal); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(stderr)
			if err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := program.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted {
				t.Errorf("it ended with %v, not with status %d; it said:\n%s", err, statusInterrupted, said)
			}
			if len(said) > 0 {
				t.Errorf("it was to end without a word, and said:\n%s", said)
			}
		})
	}
}

// Ctrl-C stops waiting for a report that never arrives.
func TestWaiveInterrupted(t *testing.T) {
	report := fifo(t)
	program := exec.Command(self(t), "waive", "0123456789ab", "--reason", "none", "--report", report)
	program.Args[0] = "small-hook"
	program.Dir, program.Env = gittest.New(t).Dir, os.Environ()
	stderr := start(t, program)
	writer, err := os.OpenFile(report, os.O_WRONLY, 0) // until the reader opens it
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, writer)
	if err := program.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := program.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted {
		t.Errorf("it ended with %v, not with status %d; it said:\n%s", err, statusInterrupted, said)
	}
}

// A hook that waits for ref lines, as on a terminal, stops too.
func TestHookInterrupted(t *testing.T) {
	repo := gittest.New(t)
	for _, hook := range []string{"pre-push", "pre-receive"} {
		t.Run(hook, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			lines, keyboard := io.Pipe()
			defer closeAll(t, keyboard)
			status := cli.Run(ctx, program.Process{
				Args: []string{"small-hook", hook, "-C", repo.Dir}, Environ: repo.Environ(),
				Stdin: onRead{lines, interrupt}, Stdout: io.Discard, Stderr: io.Discard,
			})
			if status != statusInterrupted {
				t.Errorf("exit status %d, not %d", status, statusInterrupted)
			}
		})
	}
}

func closeAll(t *testing.T, all ...io.Closer) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// onRead calls a function when it is read.
type onRead struct {
	io.Reader
	call func()
}

func (r onRead) Read(p []byte) (int, error) {
	r.call()
	return r.Reader.Read(p)
}

// self is the test's own executable, which runs as the program under the program's name.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a program and returns a pipe from its standard error.
func start(t *testing.T, program *exec.Cmd) io.Reader {
	t.Helper()
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	return stderr
}

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// script is an executable shell script in a file of its own.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := gittest.WriteProgram(path, "#!/bin/sh\n"+text); err != nil {
		t.Fatal(err)
	}
	return path
}
