package githistory

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

const helperVariable = "GITHISTORY_TEST_HELPER"

// TestHelperProcess is not a test but the program that TestNoProcessOutlivesAKilledGate runs and kills. Its git waits for input from a pipe
// that the test holds open.
func TestHelperProcess(t *testing.T) {
	dir := os.Getenv(helperVariable)
	if dir == "" {
		return
	}
	repo, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := repo.git.Command(t.Context(), "cat-file", "--batch")
	cmd.Stdin = os.Stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\npid %d\n", cmd.Process.Pid)
	t.Error(cmd.Wait(), "ended by itself")
}

func TestNoProcessOutlivesAKilledGate(t *testing.T) {
	r := gittest.New(t)
	// Orphans become this process's children, so that it can wait for them.
	const setChildSubreaper = 36
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		t.Skipf("SKIPPED: cannot adopt orphans, the end of children is NOT tested: %v", errno)
	}
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close() //nolint:errcheck // only held open
	gate := exec.Command(os.Args[0], "-test.run=^TestHelperProcess$")
	gate.Env = append(r.Environ(), helperVariable+"="+r.Dir)
	gate.Stdin = stdin
	stdout, err := gate.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gate.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for lines := bufio.NewScanner(stdout); pid == 0 && lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err != nil {
			pid = 0
		}
	}
	if pid == 0 {
		t.Fatal("the helper did not say which process it started: ", gate.Wait())
	}
	if err := gate.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := gate.Wait(); err == nil {
		t.Error("the helper ended by itself")
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil { // until the process ends
		t.Fatal(err)
	}
	if status.Signal() != syscall.SIGTERM {
		t.Errorf("git ended with %v", status)
	}
}
