//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// rewritten is a repository with the valid workspace, a second entry, and a
// commit that rewrites the first one.
func rewritten(t testing.TB) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	if err := os.CopyFS(r.Dir, os.DirFS("testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	r.Commit("start")
	r.CommitFile(progressFile, appended(t, r, "task-1", 1))
	log, err := os.ReadFile(r.Path(progressFile))
	if err != nil {
		t.Fatal(err)
	}
	r.CommitFile(progressFile, strings.Replace(string(log), "workspace created", "workspace made", 1))
	return r
}

// printers are commands that have something to say, with their status in this repository if all goes well.
var printers = map[string]int{
	"audit": 1, "audit HEAD~1": 0, "range HEAD~2..HEAD~1": 0, "range HEAD~1..HEAD": 1, "check": 0, "check --recursive": 0,
	"audit --format json": 1, "check --format json": 0, "check --format json --format text": 0,
	"explain": 0, "explain lint/blank": 0, "version": 0, "--help": 0, "help audit": 0, "--version": 0, "audit --help": 0, "completion bash": 0,
	"install": 0, "doctor": 0, "uninstall": 0, "baseline HEAD~1": 0, "demo": 0,
}

// If the disk is full, or nobody reads the output, the result was not told: that is outcome 2, whatever the result.
func TestNobodyCanBeTold(t *testing.T) {
	gittest.Long(t)
	for args, well := range printers {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			r := rewritten(t)
			if args == "doctor" || args == "uninstall" {
				r.Git("config", "core.hooksPath", ".git/hooks")
				if status := exitOf(t, smallHook(r, "install", "--force")); status != 0 {
					t.Fatalf("install ended with %d", status)
				}
			}
			var trouble bytes.Buffer
			cmd := smallHook(r, strings.Fields(args)...)
			cmd.Stdout, cmd.Stderr = full(t), &trouble
			if status := exitOf(t, cmd); status != statusCannot || !strings.Contains(trouble.String(), "could not be written") || strings.Contains(trouble.String(), "/dev/std") {
				t.Errorf("with a full disk: exit status %d, %q", status, trouble.String())
			}
			trouble.Reset()
			cmd = smallHook(r, strings.Fields(args)...)
			cmd.Stdout, cmd.Stderr = unread(t), &trouble
			if status := exitOf(t, cmd); status != statusCannot || trouble.Len() == 0 {
				t.Errorf("into a closed pipe: exit status %d, %q", status, trouble.String())
			}
			cmd = smallHook(r, strings.Fields(args)...)
			if status := exitOf(t, cmd); status != well {
				t.Errorf("without trouble: exit status %d, not %d", status, well)
			}
		})
	}
}

// A hook prints its reason on standard error. If that fails it still blocks; it prints nothing if nothing is wrong.
func TestHookThatCannotSayWhy(t *testing.T) {
	gittest.Long(t)
	r := rewritten(t)
	lines := "refs/heads/main " + r.ID("HEAD") + " refs/heads/main " + r.ID("HEAD~1") + "\n"
	for name, stream := range map[string]func(testing.TB) *os.File{"full": full, "closed pipe": unread} {
		cmd := smallHook(r, "pre-push", "origin", "url")
		cmd.Stdin, cmd.Stderr = strings.NewReader(lines), stream(t)
		if status := exitOf(t, cmd); status != statusCannot {
			t.Errorf("%s: exit status %d", name, status)
		}
		cmd = smallHook(r, "pre-push", "origin", "url")
		cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Replace(lines, r.ID("HEAD"), r.ID("HEAD~1"), 1)), stream(t)
		if status := exitOf(t, cmd); status != 0 {
			t.Errorf("%s, and nothing to say: exit status %d", name, status)
		}
		// Neither the reason nor the error can be printed.
		cmd = smallHook(r, "audit")
		cmd.Stdout, cmd.Stderr = stream(t), stream(t)
		if status := exitOf(t, cmd); status != statusCannot {
			t.Errorf("%s, twice: exit status %d", name, status)
		}
	}
}

// A report that cannot be written to its file is outcome 2, and the old file is unchanged.
func TestReportThatCannotBeWritten(t *testing.T) {
	r := rewritten(t)
	r.Write("there", "before")
	for _, file := range []string{"/dev/full/report", "gone/report", ".", "there/report"} {
		for _, rev := range []string{"HEAD", "HEAD~1"} {
			cmd := smallHook(r, "audit", rev, "--format", "json", "--output", file)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if status := exitOf(t, cmd); status != statusCannot || !strings.Contains(said.String(), "could not be written") {
				t.Errorf("%s: exit status %d, %s", file, status, said.String())
			}
		}
	}
	if data, err := os.ReadFile(r.Path("there")); err != nil || string(data) != "before" {
		t.Errorf("%q, %v", data, err)
	}
}

// full is a file on a device that is always full.
func full(t testing.TB) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("SKIPPED: there is no /dev/full here, so a full disk is NOT tested: %v", err)
	}
	t.Cleanup(func() { closed(t, f) })
	return f
}

// unread is the writing end of a pipe that nobody reads.
func unread(t testing.TB) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, r)
	t.Cleanup(func() { closed(t, w) })
	return w
}

func closed(t testing.TB, f *os.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Many runs at once in one repository agree with a single run, even when they write the same file and others commit meanwhile.
func TestRunsAtOnce(t *testing.T) {
	gittest.Long(t)
	r := rewritten(t)
	want, err := smallHook(r, "audit", "--format", "json").Output()
	if err == nil {
		t.Fatal("the rewrite was not found")
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range 8 {
		all.Go(func() {
			<-begin
			var said bytes.Buffer
			cmd := smallHook(r, "audit", "--format", "json", "--reader", readers[i%2], "--format", "json", "--output", ".git/report")
			cmd.Stdout = &said
			status := exitOf(t, cmd)
			if status != 1 || readerSaid.ReplaceAllString(said.String(), "") != readerSaid.ReplaceAllString(string(want), "") {
				t.Errorf("exit status %d:\n%s", status, said.String())
			}
		})
	}
	close(begin)
	all.Wait()
	data, err := os.ReadFile(r.Path(".git/report"))
	if err != nil || !json.Valid(data) {
		t.Errorf("the report is %q, %v", data, err)
	}
}

// Installing and uninstalling at once, with different programs, does not lose the earlier hook.
func TestInstallsAtOnce(t *testing.T) {
	gittest.Long(t)
	r := gittest.New(t)
	r.Write(".git/hooks/pre-commit", "#!/bin/sh\necho old >>.git/ran\n")
	if err := os.Chmod(r.Path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("small-hook")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "small-hook")
	if err := os.Symlink(program, other); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"install", "--program", program}, {"uninstall"}, {"install", "--program", other}, {"uninstall"}}
	for range 15 {
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range 8 {
			all.Go(func() {
				<-begin
				cmd := smallHook(r, commands[i%len(commands)]...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%q: %v\n%s", cmd.Args, err, out)
				}
			})
		}
		close(begin)
		all.Wait()
		if status := exitOf(t, smallHook(r, "install")); status != 0 {
			t.Fatalf("install ended with %d", status)
		}
		r.Remove(".git/ran")
		r.Git("commit", "-q", "--allow-empty", "-m", "commit")
		if data, err := os.ReadFile(r.Path(".git/ran")); err != nil || string(data) != "old\n" {
			t.Fatalf("the old hook ran so: %q, %v", data, err)
		}
	}
}
