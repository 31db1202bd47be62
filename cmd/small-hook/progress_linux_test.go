package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// A long audit shows a progress bar on a terminal, with the number of commits done and in all, and removes it at the end. A pipe, a CI job
// and a short history get none.
func TestProgress(t *testing.T) {
	gittest.Long(t)
	const commits = progressFrom + 1
	long := gittest.New(t)
	var stream strings.Builder
	for i := range commits {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 0\n\n", 1772366400+i)
	}
	long.GitInput(stream.String(), "fast-import", "--quiet")
	short := gittest.New(t)
	short.Git("commit", "-q", "--allow-empty", "-m", "one")
	for _, tt := range []struct {
		name     string
		args     []string
		repo     *gittest.Repo
		vars     []string
		terminal bool
		shown    int // the bar's number of commits; 0 is no bar
	}{
		{"audit", []string{"audit"}, long, nil, true, commits},
		{"range", []string{"range", fmt.Sprintf("HEAD~%d..HEAD", progressFrom)}, long, nil, true, progressFrom},
		{"short range", []string{"range", "HEAD~9..HEAD"}, long, nil, true, 0},
		{"pipe", []string{"audit"}, long, nil, false, 0},
		{"CI", []string{"audit"}, long, []string{"CI=true"}, true, 0},
		{"dumb terminal", []string{"audit"}, long, []string{"TERM=dumb"}, true, 0},
		{"short history", []string{"audit"}, short, nil, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program := exec.Command(self(t), tt.args...)
			program.Args[0] = "small-hook"
			program.Dir = tt.repo.Dir
			program.Env = append(append(tt.repo.Environ(), "TERM=xterm", "CI="), tt.vars...)
			said := runOn(t, program, tt.terminal)
			if tt.shown == 0 {
				if said != "" {
					t.Errorf("standard error is not empty:\n%q", said)
				}
				return
			}
			if !strings.Contains(said, "judging commits") || !strings.Contains(said, fmt.Sprintf("/%d", tt.shown)) {
				t.Errorf("no bar of %d commits:\n%q", tt.shown, said)
			}
			if last := said[strings.LastIndexByte(said, '\r')+1:]; strings.TrimSpace(last) != "" {
				t.Errorf("the bar is not taken away: %q is left", last)
			}
		})
	}
}

// runOn runs a program that must succeed, with its standard error on a terminal or a pipe, and returns what it printed there.
func runOn(t *testing.T, program *exec.Cmd, terminal bool) string {
	t.Helper()
	var said bytes.Buffer
	if !terminal {
		program.Stderr = &said
		if err := program.Run(); err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return said.String()
	}
	ours, theirs := openTerminal(t)
	program.Stderr = theirs
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	closeAll(t, theirs)
	if _, err := io.Copy(&said, ours); err != nil && !strings.Contains(err.Error(), unix.EIO.Error()) { // EIO: the other side is closed
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return said.String()
}

// openTerminal opens a new terminal: the viewer's side, and the program's.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("NOT TESTED: no terminal can be opened here: %v", err)
	}
	t.Cleanup(func() { closeAll(t, ours) })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}
