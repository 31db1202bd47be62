//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

const guardedLog = ".small/progress.small.yml"

// guarded makes a repository with a workspace.
func guarded(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	if err := os.CopyFS(r.Path(".small"), os.DirFS("testdata/workspace/.small")); err != nil {
		t.Fatal(err)
	}
	r.Commit("start")
	return r
}

// appending is a process that appends an entry.
func appending(r *gittest.Repo, evidence string, flags ...string) *exec.Cmd {
	return smallHook(r, append([]string{"append", "--task", "task-1", "--evidence", evidence}, flags...)...)
}

// recorded counts entries by their evidence. The log has to be valid.
func recorded(t *testing.T, r *gittest.Repo) map[string]int {
	t.Helper()
	text := contentOfLog(t, r)
	doc, problems := small.Parse([]byte(text), small.Limits{})
	if doc == nil {
		t.Fatalf("the log cannot be read: %v\n%s", problems, text)
	}
	if status := exitOf(t, smallHook(r, "check")); status != 0 {
		t.Fatalf("check ends with %d:\n%s", status, text)
	}
	log, problems := ledger.LedgerOf(doc)
	if log == nil {
		t.Fatal(problems)
	}
	out := map[string]int{}
	for i := range log.Entries {
		evidence, _ := doc.Root.Get("entries").Items[i].Get("evidence").Str()
		out[evidence]++
	}
	return out
}

func contentOfLog(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	data, err := os.ReadFile(r.Path(guardedLog))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// When fifty processes append at once, each entry is there exactly once.
func TestAppendAtOnce(t *testing.T) {
	gittest.Long(t)
	r := guarded(t)
	ended := make(chan error)
	for i := range 50 {
		go func() {
			out, err := appending(r, fmt.Sprint("work ", i), "--wait", "10m").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended <- err
		}()
	}
	for range 50 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	found := recorded(t, r)
	for i := range 50 {
		if n := found[fmt.Sprint("work ", i)]; n != 1 {
			t.Errorf("the entry of process %d is there %d times", i, n)
		}
	}
}

// The same with many of the fifty killed: an entry is whole or absent, acknowledged ones are there, and the lock is free.
func TestAppendKilledAtRandom(t *testing.T) {
	gittest.Long(t)
	r := guarded(t)
	var all []*exec.Cmd
	ended := make(chan int)
	for i := range 50 {
		cmd := appending(r, fmt.Sprint("work ", i), "--wait", "10m")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
		go func() {
			err := cmd.Wait()
			if (err == nil) != cmd.ProcessState.Success() {
				t.Error(err)
			}
			ended <- i
		}()
	}
	killed := 0
	for range 50 {
		<-ended
		// It may have ended already.
		if all[rand.IntN(len(all))].Process.Kill() == nil {
			killed++
		}
	}
	found := recorded(t, r)
	done := 0
	for i, cmd := range all {
		n := found[fmt.Sprint("work ", i)]
		if n > 1 || cmd.ProcessState.Success() && n != 1 {
			t.Errorf("process %d ended with %v, and its entry is there %d times", i, cmd.ProcessState, n)
		}
		done += n
	}
	if killed == 0 || done == 0 {
		t.Errorf("%d were killed and %d entries are there: nothing was tried", killed, done)
	}
	if status := exitOf(t, appending(r, "after all", "--wait", "0s")); status != 0 {
		t.Errorf("afterwards append ends with %d", status)
	}
}

// Those who wait for the lock in vain are told who holds it. When the holder is killed, the lock is free.
func TestGuardHolder(t *testing.T) {
	gittest.Long(t)
	r := guarded(t)
	began, never := fifo(t), fifo(t)
	holder := smallHook(r, "guard", "--", "sh", "-c", fmt.Sprintf("echo \"$%s\" >%s; read -r line <%s #\x1b[31m", lock.Variable, began, never))
	holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(began) // until the command runs
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"", "stale", strings.TrimSpace(string(token)) + "x"} {
		late := appending(r, "too early", "--wait", "0s")
		late.Env = append(late.Env, lock.Variable+"="+given)
		var said bytes.Buffer
		late.Stdout, late.Stderr = &said, &said
		if status := exitOf(t, late); status != 2 {
			t.Errorf("with the token %q, append ends with %d", given, status)
		}
		for _, part := range []string{fmt.Sprintf("is locked by process %d (small-hook guard -- sh -c echo", holder.Process.Pid), " ago; waited 0s", "--wait 5m waits longer"} {
			if !strings.Contains(said.String(), part) || strings.Contains(said.String(), "\x1b") {
				t.Errorf("it does not say %q: %s", part, said.String())
			}
		}
	}
	// Another work tree has another log, and another lock.
	other := r.Worktree("other")
	if status := exitOf(t, appending(other, "there", "--wait", "0s")); status != 0 {
		t.Errorf("in another work tree append ends with %d", status)
	}
	if err := syscall.Kill(-holder.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := holder.Wait(); err == nil {
		t.Error("the holder was not killed")
	}
	stale := appending(r, "afterwards", "--wait", "0s")
	stale.Env = append(stale.Env, lock.Variable+"="+strings.TrimSpace(string(token)))
	if status := exitOf(t, stale); status != 0 {
		t.Errorf("after the kill append ends with %d", status)
	}
	if found := recorded(t, r); found["afterwards"] != 1 || found["too early"]+found["there"] != 0 {
		t.Errorf("%v", found)
	}
}

// Commands inside a guarded one do not wait for it, but do wait for each other, at any depth.
func TestGuardNested(t *testing.T) {
	gittest.Long(t)
	r := guarded(t)
	var script strings.Builder
	for i := range 10 {
		fmt.Fprintf(&script, "small-hook append --task task-1 --evidence 'work %d' &\n", i)
		fmt.Fprintf(&script, "small-hook guard -- small-hook append --task task-1 --evidence 'deep %d' &\n", i)
	}
	cmd := smallHook(r, "guard", "--", "sh", "-c", script.String()+"wait")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := recorded(t, r)
	for i := range 10 {
		for _, name := range []string{"work", "deep"} {
			if n := found[fmt.Sprint(name, " ", i)]; n != 1 {
				t.Errorf("%s %d is there %d times: %s", name, i, n, out)
			}
		}
	}
}

// SIGINT, SIGTERM and SIGHUP reach the command, and the guard ends as the command does; the log is checked afterwards.
func TestGuardSignals(t *testing.T) {
	// Under nohup SIGHUP is ignored, and a child would inherit that. A signal that is caught has its default action in a child.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for sent, ends := range map[syscall.Signal]map[string]int{
		syscall.SIGTERM: {"": 143, "trap 'exit 5' TERM;": 5, "trap 'rm " + guardedLog + "; exit 0' TERM;": 1},
		syscall.SIGHUP:  {"": 129, "trap 'exit 5' HUP;": 5},
		syscall.SIGINT:  {"": 130, "trap 'exit 0' INT;": 0},
	} {
		for trap, want := range ends {
			r := guarded(t)
			before := contentOfLog(t, r)
			began, never := fifo(t), fifo(t)
			// A shell runs a trap while it waits, but not while it opens a file.
			cmd := smallHook(r, "guard", "--", "sh", "-c", fmt.Sprintf("%s cat <%s >/dev/null 2>&1 & echo >%s; wait", trap, never, began))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(began); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != want {
				t.Errorf("%v with %q: %v, not status %d", sent, trap, err, want)
			}
			if end, err := os.OpenFile(never, os.O_WRONLY, 0); err != nil || end.Close() != nil { // cat ends
				t.Errorf("%v", err)
			}
			if now := contentOfLog(t, r); now != before {
				t.Errorf("%v with %q: the log is\n%s", sent, trap, now)
			}
		}
	}
}
