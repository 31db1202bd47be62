//go:build unix

package judge_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// countGit puts a program called git before the real git in PATH. The program lists each call and runs the real git. calls returns the list.
func countGit(t *testing.T) (calls func() []string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", list, real)
	if err := gittest.WriteProgram(filepath.Join(dir, "git"), script); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
}

// A command starts git at most as often as this table says: each process of git takes as long as an empty Go program. Before you raise a number, measure
// the cost: `go run ./scripts/speed`.
func TestProcessesOfGit(t *testing.T) {
	idle := func(r *gittest.Repo) {
		r.Write("code.go", "package code\n")
		r.Git("add", "code.go")
	}
	appended := func(r *gittest.Repo) {
		r.Write(log, entries(3))
		r.Git("add", log)
	}
	for name, c := range map[string]struct {
		most   int
		change func(r *gittest.Repo)
		judge  func(req session.Request) *finding.Report
	}{
		"an idle hook": {2, idle, func(req session.Request) *finding.Report { return judge.PreCommit(t.Context(), req) }},
		"a hook for an entry": {9, appended, func(req session.Request) *finding.Report {
			return judge.PreCommit(t.Context(), req)
		}},
		"a range": {6, idle, func(req session.Request) *finding.Report { return judge.Range(t.Context(), req, "HEAD~1..HEAD") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := workspace(t)
			c.change(r)
			calls := countGit(t)
			report := c.judge(request(r, "git"))
			if report.Verdict != finding.Pass {
				t.Fatalf("it is %s: %v %v", report.Verdict, report.Failure, report.Findings)
			}
			if started := calls(); len(started) > c.most {
				t.Errorf("git was started %d times, at most %d are expected:\n%s", len(started), c.most, strings.Join(started, "\n"))
			} else {
				t.Logf("git was started %d times", len(started))
			}
		})
	}
}
