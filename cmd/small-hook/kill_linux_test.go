package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// killAfter starts a command and sends it SIGKILL after n changes in a directory. It reports whether the command ended by itself before
// that.
func killAfter(t *testing.T, dir string, n int, cmd *exec.Cmd) (finished bool) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.Skipf("SKIPPED: no directory can be watched here, so a kill in the midst of writing is NOT tested: %v", err)
	}
	const anything = syscall.IN_CREATE | syscall.IN_MODIFY | syscall.IN_ATTRIB | syscall.IN_CLOSE_WRITE |
		syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO | syscall.IN_DELETE
	if _, err := syscall.InotifyAddWatch(fd, dir, anything); err != nil {
		t.Fatal(err)
	}
	changes := os.NewFile(uintptr(fd), dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		over <- errors.Join(err, changes.Close()) // ends the reading
	}()
	buf := make([]byte, 64<<10)
	for n > 0 {
		size, err := changes.Read(buf)
		if err != nil {
			<-over
			return true
		}
		// Each is a header of 16 bytes, of which the last four are the length
		// of the name that follows (inotify(7)).
		for at := 0; at < size; n-- {
			at += syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
		}
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-over
	return cmd.ProcessState.Exited()
}

// hookFiles lists a directory of hooks: contents and modes by name.
func hookFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		out[entry.Name()] = info.Mode().String() + "\n" + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whenever an installation, or its removal, is killed: a commit passes, and the earlier hook runs once. An interrupted change can be
// completed, and undone without a trace.
func TestInstallKilled(t *testing.T) {
	gittest.Long(t)
	for what, begin := range map[string][]string{"install": nil, "uninstall": {"install"}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			hooks, ran := r.Path(".git/hooks"), r.Path(".git/ran")
			must := func(args ...string) {
				t.Helper()
				if status := exitOf(t, smallHook(r, args...)); status != 0 {
					t.Fatalf("%q ended with %d", args, status)
				}
			}
			commit := func(n int) {
				t.Helper()
				if err := os.RemoveAll(ran); err != nil {
					t.Fatal(err)
				}
				r.Git("commit", "-q", "--allow-empty", "-m", "commit")
				if data, err := os.ReadFile(ran); err != nil || string(data) != "old\n" {
					t.Fatalf("after %d changes the old hook ran so: %q, %v", n, data, err)
				}
			}
			if err := os.RemoveAll(hooks); err != nil {
				t.Fatal(err)
			}
			r.Write(".git/hooks/pre-commit", "#!/bin/sh\necho old >>.git/ran\n")
			r.Write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n")
			for _, name := range []string{"pre-commit", "pre-push"} {
				if err := os.Chmod(filepath.Join(hooks, name), 0o750); err != nil {
					t.Fatal(err)
				}
			}
			before := hookFiles(t, hooks)
			for n, finished := 0, false; !finished; n++ {
				for _, command := range begin {
					must(command)
				}
				finished = killAfter(t, hooks, n, smallHook(r, what))
				commit(n)
				must("install")
				commit(n)
				must("uninstall")
				if diff := cmp.Diff(before, hookFiles(t, hooks)); diff != "" {
					t.Fatalf("killed after %d changes, then done and undone (-want +got):\n%s", n, diff)
				}
				if finished {
					t.Logf("killed after each of %d changes", n)
				}
			}
		})
	}
}

// Whenever the writing of a report is killed, its file is as it was or has the whole report.
func TestReportKilled(t *testing.T) {
	gittest.Long(t)
	r := rewritten(t)
	for _, before := range []string{"", "what was there before\n"} {
		for n, finished := 0, false; !finished; n++ {
			r.Remove("out")
			r.Write("out/other", "")
			if before != "" {
				r.Write("out/report", before)
			}
			finished = killAfter(t, r.Path("out"), n, smallHook(r, "audit", "--format", "json", "--output", "out/report"))
			data, err := os.ReadFile(r.Path("out/report"))
			old := string(data) == before && (before != "" || errors.Is(err, fs.ErrNotExist))
			if whole := json.Valid(data); !old && !whole || finished && !whole {
				t.Errorf("killed after %d changes: %q, %v", n, data, err)
			}
			if finished {
				t.Logf("killed after each of %d changes", n)
			}
		}
	}
}

// The same for files to be committed; git add -A finds nothing beside them.
func TestEditKilled(t *testing.T) {
	gittest.Long(t)
	const config, own = ".small-gate.yml", "# ours\nversion: 1\n"
	r := rewritten(t)
	var report struct {
		Findings []struct{ Fingerprint string }
	}
	audit := smallHook(r, "audit", "--format", "json")
	out, err := audit.Output()
	if audit.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args                []string
		file, before, after string
		watched             string
	}{
		{[]string{"baseline", "HEAD~1"}, config, "", "baseline:", "."},
		{[]string{"baseline", "HEAD~1"}, config, own, "baseline:", ".git"},
		{[]string{"waive", report.Findings[0].Fingerprint, "--reason", "why"}, config, own, "waivers:", "."},
		{[]string{"waive", report.Findings[0].Fingerprint, "--reason", "why"}, config, "", "waivers:", ".git"},
		{[]string{"install", "--merge-driver"}, ".gitattributes", "*.png binary\n", "merge=small-gate", "."},
	} {
		for n, finished := 0, false; !finished; n++ {
			r.Git("clean", "-fdq")
			if c.before != "" {
				r.Write(c.file, c.before)
			}
			finished = killAfter(t, r.Path(c.watched), n, smallHook(r, c.args...))
			data, err := os.ReadFile(r.Path(c.file))
			old := string(data) == c.before && (c.before != "" || errors.Is(err, fs.ErrNotExist))
			if whole := strings.HasPrefix(string(data), c.before) && strings.Contains(string(data), c.after); !old && !whole || finished && !whole {
				t.Errorf("%q killed after %d changes: %q, %v", c.args, n, data, err)
			}
			if others := r.Git("ls-files", "--others"); others != "" && others != c.file {
				t.Errorf("%q killed after %d changes leaves %s", c.args, n, others)
			}
			if status := exitOf(t, smallHook(r, "check")); status != 0 {
				t.Errorf("%q killed after %d changes, check ends with %d", c.args, n, status)
			}
		}
	}
}

// However the program ends, the git that reads for it ends too. The repository is a clone without file contents whose fetch blocks, so git
// is at work when the program is killed.
func TestKilledAuditLeavesNoReader(t *testing.T) {
	const setChildSubreaper = 36 // prctl(2): orphans become this process's children
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		t.Skipf("SKIPPED: cannot adopt orphans, so the end of children is NOT tested: %v", errno)
	}
	origin := gittest.New(t)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.CommitFile(progressFile, "small_version: \"1.0.0\"\nowner: agent\nentries: []\n")
	clone := origin.Clone("--filter=blob:none", "--no-checkout")
	began, never := fifo(t), fifo(t)
	clone.Git("config", "remote.origin.uploadpack", script(t, fmt.Sprintf("echo fetching >%s\nread -r line <%s\n", began, never)))
	program := smallHook(clone, "audit", "--reader", "git")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(began); err != nil { // until the fetch runs
		t.Fatal(err)
	}
	readers := childrenOf(t, program.Process.Pid)
	if len(readers) == 0 {
		t.Fatal("no git is at work")
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err == nil {
		t.Error("the program ended by itself")
	}
	for _, pid := range readers {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil { // until it ends
			t.Fatal(err)
		}
		if status.Signal() != syscall.SIGTERM {
			t.Errorf("git ended with %v", status)
		}
	}
	// The children of git end once the fetch is unblocked.
	if err := os.WriteFile(never, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// childrenOf lists the processes whose parent is pid.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …; a name may hold anything.
		var own, parent int
		var state string
		if _, err := fmt.Sscanf(string(data), "%d", &own); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if _, err := fmt.Sscanf(rest, "%s %d", &state, &parent); err == nil && parent == pid {
			out = append(out, own)
		}
	}
	return out
}
