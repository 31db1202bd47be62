package main

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// exitOf runs a command to its end and returns its exit status, or -1 if a signal ended it.
func exitOf(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// smallHook prepares the program in a repository.
func smallHook(r *gittest.Repo, args ...string) *exec.Cmd {
	cmd := exec.Command("small-hook", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Environ()
	return cmd
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
