package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// On a really full disk the report has outcome 2, its old file is unchanged, and nothing is left beside it.
func TestReportOnAFullDisk(t *testing.T) {
	gittest.Long(t)
	r := rewritten(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8k"); err != nil {
		t.Skipf("SKIPPED: no small file system can be mounted here, so a full disk is NOT tested: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(dir+"/report", []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/rest", make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{"HEAD", "HEAD~1"} {
		for _, file := range []string{"report", "new"} {
			var said bytes.Buffer
			cmd := smallHook(r, "audit", rev, "--format", "json", "--output", dir+"/"+file)
			cmd.Stdout, cmd.Stderr = &said, &said
			if status := exitOf(t, cmd); status != statusCannot || !strings.Contains(said.String(), "no space left") {
				t.Errorf("%s into %s: exit status %d, %s", rev, file, status, said.String())
			}
		}
	}
	if data, err := os.ReadFile(dir + "/report"); err != nil || string(data) != "before" {
		t.Errorf("the report is %q, %v", data, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// A file of 100 MB in place of a log costs no more memory than any other, with either reader.
func TestHugeFilesInCommits(t *testing.T) {
	gittest.Long(t)
	r := rewritten(t)
	if err := os.Truncate(r.Path(progressFile), 100_000_000); err != nil {
		t.Fatal(err)
	}
	r.Commit("huge")
	for _, reader := range readers {
		t.Run(reader, func(t *testing.T) {
			small := peak(t, r, reader, "HEAD~1")
			t.Logf("an audit takes %d MiB", small>>20)
			if large := peak(t, r, reader, "HEAD"); large > small+40<<20 {
				t.Errorf("an audit takes %d MiB, and %d MiB with a file of 100 MB", small>>20, large>>20)
			}
		})
	}
}

// peak is the peak memory of an audit, in bytes.
func peak(t *testing.T, r *gittest.Repo, reader, rev string) int64 {
	t.Helper()
	cmd := smallHook(r, "audit", rev, "--reader", reader)
	if status := exitOf(t, cmd); status != 1 {
		t.Fatalf("exit status %d", status)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell how much memory was in use")
	}
	return usage.Maxrss << 10
}
