package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// notedFiles are the notes kept about workspaces, and the temporary files left behind in the git directory and beside the log.
func notedFiles(t *testing.T, r *gittest.Repo) (kept, left []string) {
	t.Helper()
	for _, dir := range []string{".git", ".small", ".git/small-gate"} {
		err := filepath.WalkDir(r.Path(dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.Contains(entry.Name(), ".small-gate-") {
				left = append(left, path)
			} else if err == nil && !entry.IsDir() && strings.HasSuffix(dir, "gate") {
				kept = append(kept, entry.Name())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return kept, left
}

// Whenever a guarded writer is killed, the log is whole and has each acknowledged entry once. The next writer finds nothing to put back or
// to complain about, and cleans up after the killed one.
func TestAppendKilled(t *testing.T) {
	gittest.Long(t)
	template := guarded(t)
	if status := exitOf(t, appending(template, "first")); status != 0 {
		t.Fatalf("append ended with %d", status)
	}
	kept, err := filepath.Glob(template.Path(".git/small-gate/*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	for _, watched := range []string{".small", ".git/small-gate/" + filepath.Base(kept[0])} {
		for n, finished := 0, false; !finished; n++ {
			finished = killAfter(t, template.Path(watched), n, appending(template, fmt.Sprint(watched, n)))
			now := recorded(t, template)
			if there := now[fmt.Sprint(watched, n)]; there > 1 || finished && there != 1 {
				t.Errorf("%s: killed after %d changes, the entry is there %d times", watched, n, there)
			}
			var said bytes.Buffer
			next := appending(template, fmt.Sprint("after ", watched, n), "--wait", "0s")
			next.Stderr = &said
			if status := exitOf(t, next); status != 0 || said.Len() > 0 {
				t.Errorf("%s: killed after %d changes, the next one ends with %d: %s", watched, n, status, said.String())
			}
			files, left := notedFiles(t, template)
			if len(left) > 0 || strings.Join(files, " ") != "lock-0 noted" {
				t.Errorf("%s: killed after %d changes, there are %v and %v", watched, n, files, left)
			}
		}
	}
}

// The same for a writer that puts back what another one lost: the previous file is kept, once.
func TestGuardKilled(t *testing.T) {
	gittest.Long(t)
	r := guarded(t)
	if status := exitOf(t, appending(r, "first")); status != 0 {
		t.Fatalf("append ended with %d", status)
	}
	good := contentOfLog(t, r)
	dir, err := filepath.Glob(r.Path(".git/small-gate/*"))
	if err != nil || len(dir) != 1 {
		t.Fatal(dir, err)
	}
	for n, finished := 0, false; !finished; n++ {
		r.Write(guardedLog, fmt.Sprint("cut ", n))
		cmd := smallHook(r, "guard", "--", "small-hook", "guard", "--", "true")
		alive, held, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{held} // its children inherit it
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		finished = killAfter(t, dir[0], n, cmd)
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		closeAll(t, held)
		if _, err := io.Copy(io.Discard, alive); err != nil { // until all have ended
			t.Fatal(err)
		}
		closeAll(t, alive)
		if status := exitOf(t, smallHook(r, "guard", "--wait", "10s", "--", "true")); status > 1 {
			t.Errorf("killed after %d changes, the next one ends with %d", n, status)
		}
		if now := contentOfLog(t, r); now != good {
			t.Errorf("killed after %d changes, the log is\n%s", n, now)
		}
		files, left := notedFiles(t, r)
		copies := 0
		for _, name := range files {
			switch {
			case strings.HasPrefix(name, "progress-"):
				copies++
			case name != "noted" && name != "lock-0" && name != "lock-1":
				left = append(left, name)
			}
		}
		if len(left) > 0 || copies != n+1 {
			t.Errorf("killed after %d changes, there is %v, and %d copies of %d files", n, left, copies, n+1)
		}
	}
}

// Wherever a full disk stops append, its status says truly whether the entry was recorded.
func TestAppendOnAFullDisk(t *testing.T) {
	gittest.Long(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here, so a full disk is NOT tested: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	source := guarded(t)
	if err := gittest.CopyTree(dir+"/repo", source.Dir); err != nil {
		t.Fatal(err)
	}
	r := source.In(dir + "/repo")
	for i := range 40 { // so that the log takes some pages
		text := contentOfLog(t, r)
		text += fmt.Sprintf("  - task_id: \"task-1\"\n    timestamp: \"2026-03-02T09:%02d:00.000000001Z\"\n    evidence: \"%s\"\n", i, strings.Repeat("long ", 80))
		r.Write(guardedLog, text)
	}
	if status := exitOf(t, appending(r, "first")); status != 0 {
		t.Fatalf("append ended with %d", status)
	}
	rest := dir + "/rest"
	refused, done := 0, 0
	for pages := range 24 {
		if err := os.RemoveAll(rest); err != nil {
			t.Fatal(err)
		}
		var disk syscall.Statfs_t
		if err := syscall.Statfs(dir, &disk); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(rest, make([]byte, (int64(disk.Bfree)-int64(pages))*disk.Bsize), 0o600); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		evidence := fmt.Sprint("work ", pages)
		cmd := appending(r, evidence)
		cmd.Stderr = &said
		status := exitOf(t, cmd)
		there := strings.Count(contentOfLog(t, r), evidence+"\"")
		switch {
		case status == 0 && there == 1:
			done++
		case status == 2 && there == 0 && strings.Contains(said.String(), "no space left"):
			refused++
		case status == 2 && there == 1 && strings.Contains(said.String(), "the entry is recorded"):
		default:
			t.Errorf("with %d pages left append ends with %d, and the entry is there %d times: %s", pages, status, there, said.String())
		}
		if _, left := notedFiles(t, r); len(left) > 0 {
			t.Errorf("with %d pages left, %v", pages, left)
		}
	}
	if refused == 0 || done == 0 {
		t.Errorf("%d were refused and %d done: nothing was tried", refused, done)
	}
}

// If the outcome cannot be printed, append does not claim that the entry was not recorded.
func TestAppendThatCannotSay(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("SKIPPED: there is no /dev/full here: %v", err)
	}
	defer closeAll(t, full)
	r := guarded(t)
	cmd := appending(r, "unheard")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &said
	if status := exitOf(t, cmd); status != 2 || recorded(t, r)["unheard"] != 1 || !strings.Contains(said.String(), "the entry is recorded: do not append it again") {
		t.Errorf("it ends with %d: %s", status, said.String())
	}
}
