//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/action"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Output that nobody reads, log or report, is outcome 2.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("file", "content")
	for _, args := range [][]string{
		{"--base", "HEAD"}, {"--base", "HEAD", "--format", "json"}, {"--base", "nowhere"}, {"--version"}, {"--help"},
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("small-action", args...)
		cmd.Dir, cmd.Env, cmd.Stdout = r.Dir, r.Environ(), write
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != statusCannot {
			t.Errorf("%q: exit status %d, not %d", args, got, statusCannot)
		}
		if err := write.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An interrupted run has not judged.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.CommitFile("file", "content")
	for _, reader := range []string{"git", "go-git", "auto"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		status := action.Run(ctx, program.Process{
			Args: []string{"small-action", "--base", "HEAD", "-C", r.Dir, "--reader", reader}, Stdout: &stdout, Stderr: &stderr, Environ: r.Environ(),
		})
		if status != statusCannot || !strings.Contains(stdout.String(), "small-action: cannot judge: ") || strings.Contains(stdout.String(), "passed") {
			t.Errorf("%s: exit status %d\n%s%s", reader, status, stdout.String(), stderr.String())
		}
	}
}
