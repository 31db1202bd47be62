//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// BenchmarkSync measures the processor time of a sync of ten own commits with entries on top of three of others, with the pre-push hook
// that judges them again. It compares with git pull --rebase and git push of the same commits of code, which no hook judges.
func BenchmarkSync(b *testing.B) {
	template := filepath.Join(b.TempDir(), "template")
	server, first := gittest.New(b, gittest.At(filepath.Join(template, "server.git")), gittest.Bare()), gittest.New(b)
	if err := os.CopyFS(first.Dir, os.DirFS(filepath.Join("testdata", "workspace"))); err != nil {
		b.Fatal(err)
	}
	first.Commit("start")
	first.Git("push", "-q", server.Dir, "main", "main:code")
	clone := gittest.New(b, gittest.At(filepath.Join(template, "clone")))
	clone.Git("remote", "add", "origin", "../server.git")
	clone.Git("fetch", "-q")
	for _, branch := range []string{"code", "main"} {
		first.Git("checkout", "-q", "-B", branch, "main~0")
		clone.Git("checkout", "-q", "-B", branch, "origin/"+branch)
		work := func(r *gittest.Repo, name string, commits int) {
			for i := range commits {
				if branch == "main" {
					r.Write(progressFile, appended(b, r, name, i+1))
				}
				r.Write(fmt.Sprintf("%s-%d.txt", name, i), name)
				r.Commit(name)
			}
		}
		before := first.ID("HEAD")
		work(first, "theirs", 3)
		first.Git("push", "-q", server.Dir, branch)
		first.Git("reset", "-q", "--hard", before)
		work(clone, "ours", 10)
	}
	if status := exitOf(b, smallHook(clone, "install")); status != 0 {
		b.Fatalf("install ended with %d", status)
	}
	for _, c := range []struct {
		name, branch string
		run          func(clone *gittest.Repo) error
	}{
		{"sync", "main", func(clone *gittest.Repo) error { return smallHook(clone, "sync").Run() }},
		{"git", "code", func(clone *gittest.Repo) error {
			clone.Git("pull", "-q", "--rebase")
			clone.Git("push", "-q", "--no-verify")
			return nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				b.StopTimer()
				dir := filepath.Join(b.TempDir(), "here")
				if err := gittest.CopyTree(dir, template); err != nil {
					b.Fatal(err)
				}
				clone := gittest.New(b, gittest.At(filepath.Join(dir, "clone")))
				clone.Git("checkout", "-q", c.branch)
				before := childTime(b)
				b.StartTimer()
				if err := c.run(clone); err != nil {
					b.Fatal(err)
				}
				used += childTime(b) - before
			}
			b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// childTime is the processor time of all child processes that have ended.
func childTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
