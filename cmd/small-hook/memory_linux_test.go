package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// mostMemory is the limit in docs/repositories.md, in bytes.
const mostMemory = 256 << 20

// An audit, and making commits again, fit into a small container with any number of versions of a log: after many merges, and with a log that
// each commit rewrites.
func TestMemoryOfManyVersions(t *testing.T) {
	gittest.Long(t)
	for name, tt := range map[string]struct {
		write  func(say)
		args   string
		status int
	}{
		"merges":   {func(s say) { mergesOf(s, 500, 1500) }, "audit --quiet", 0},
		"rewrites": {func(s say) { rewritesOf(s, 1000, 1000) }, "audit --quiet", 1},
		"restore":  {func(s say) { appendsOf(s, 600, 1500) }, "restore --commit HEAD~600", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			if err := gittest.CopyTree(r.Dir, "testdata/workspace"); err != nil {
				t.Fatal(err)
			}
			r.Commit("a workspace")
			imported(t, r, tt.write)
			said := filepath.Join(gittest.TempDir(t), "peak")
			cmd := exec.Command("peak-of", append([]string{said, "small-hook"}, strings.Fields(tt.args)...)...)
			cmd.Dir, cmd.Env = r.Dir, r.Environ()
			if status := exitOf(t, cmd); status != tt.status {
				t.Fatalf("exit status %d", status)
			}
			text, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			peak, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil || peak > mostMemory {
				t.Errorf("it took %d MiB (%v)", peak>>20, err)
			}
		})
	}
}

// imported has git import what write prints, piece by piece.
func imported(t *testing.T, r *gittest.Repo, write func(say)) {
	t.Helper()
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stderr = r.Dir, r.Environ(), os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(in)
	write(func(format string, args ...any) {
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			t.Fatal(err)
		}
	})
	if err := errors.Join(w.Flush(), in.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
}

// say prints one more piece of the import.
type say func(format string, args ...any)

// importedLog is a log of entries, as git fast-import takes it.
func importedLog(entries []string) string {
	text := "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" + strings.Join(entries, "")
	return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", progressFile, len(text), text)
}

func numbered(i int, task, more string) string {
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T%02d:%02d:%02d.000000001Z\"\n    status: \"in_progress\"\n    evidence: \"row %d was read %s\"\n", task, 10+i/3600, i/60%60, i%60, i, more)
}

// entriesUpTo are n entries after that of the workspace.
func entriesUpTo(n int) []string {
	out := []string{"  - task_id: \"meta/init\"\n    timestamp: \"2026-03-01T09:00:00.000000001Z\"\n    status: \"completed\"\n    evidence: \"workspace created\"\n"}
	for i := range n {
		out = append(out, numbered(i, "task-1", ""))
	}
	return out
}

func mergesOf(emit say, merges, entries int) {
	log := entriesUpTo(entries)
	commit := func(mark int, parents ...string) {
		emit("commit refs/heads/c%d\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata 1\nx\n", mark%2, mark, 1_772_400_000+mark)
		for i, p := range parents {
			emit("%s %s\n", []string{"from", "merge"}[i], p)
		}
		emit("%s\n", importedLog(log))
	}
	commit(1, "refs/heads/main^0")
	for i := range merges {
		at, n := fmt.Sprintf(":%d", 3*i+1), len(log)
		ours, theirs := numbered(n, "task-1", ""), numbered(n+1, "task-1", "")
		common := log
		log = slices.Concat(common, []string{ours})
		commit(3*i+2, at)
		log = slices.Concat(common, []string{theirs})
		commit(3*i+3, at)
		log = slices.Concat(common, []string{ours, theirs, numbered(n+2, "meta/reconcile-merge", "")})
		commit(3*i+4, fmt.Sprintf(":%d", 3*i+2), fmt.Sprintf(":%d", 3*i+3))
	}
	emit("reset refs/heads/main\nfrom :%d\n\n", 3*merges+1)
}

func rewritesOf(emit say, commits, entries int) {
	log := entriesUpTo(entries)
	for i := range commits {
		emit("commit refs/heads/main\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata 1\nx\n", i+1, 1_772_400_000+i)
		if i == 0 {
			emit("from refs/heads/main^0\n")
		}
		log[i%entries] = numbered(i%entries, "task-1", fmt.Sprint("again, for the ", i))
		emit("%s\n", importedLog(log))
	}
}

// appendsOf are a commit with entries, one that changes an entry, and commits that append one each.
func appendsOf(emit say, commits, entries int) {
	log := entriesUpTo(entries)
	for i := range commits + 2 {
		emit("commit refs/heads/main\nmark :%d\ncommitter T <t@example.com> %d +0000\ndata 1\nx\n", i+1, 1_772_400_000+i)
		switch i {
		case 0:
			emit("from refs/heads/main^0\n")
		case 1:
			log[2] = numbered(1, "task-1", "again")
		default:
			log = append(log, numbered(len(log), "task-1", ""))
		}
		emit("%s\n", importedLog(log))
	}
}
