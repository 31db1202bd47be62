package cli

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/gate/finding"
)

// TestFailureApart checks where a report in text goes that could not be finished: what was found to standard output, and the failure to
// standard error.
func TestFailureApart(t *testing.T) {
	var out, diagnostics strings.Builder
	a := &app{Process: program.Process{Stdout: &out, Stderr: &diagnostics}}
	a.flags.color = "never"
	r := &finding.Report{Tool: "small-hook", Mode: "audit", Verdict: finding.Error, Failure: &failure.Error{Message: "an object is missing", Remedy: "`git fsck`"}}
	if err := a.writeReports(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	failed := "small-hook: cannot judge: an object is missing\nfix: `git fsck`\n"
	if out.String() != "" || diagnostics.String() != failed {
		t.Errorf("without findings: %q and %q", out.String(), diagnostics.String())
	}
	diagnostics.Reset()
	r.Findings = []finding.Finding{{Rule: "append-only/deleted", Severity: finding.SeverityError, Path: "a.log", Line: 1, Column: 1, Message: "line 1 was deleted"}}
	if err := a.writeReports(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "line 1 was deleted") || !strings.Contains(out.String(), "\nincomplete: 1 error") || strings.Contains(out.String(), "cannot judge") {
		t.Errorf("standard output: %q", out.String())
	}
	if diagnostics.String() != failed {
		t.Errorf("standard error: %q", diagnostics.String())
	}
	if a.status != 2 {
		t.Errorf("exit status %d", a.status)
	}
}

// TestWithoutHome checks that only a path that begins with the home directory is shortened, and no command.
func TestWithoutHome(t *testing.T) {
	a := &app{Process: program.Process{Environ: []string{"HOME=/home/ann"}}}
	got := a.withoutHome("hooks: /home/ann/a (/srv/home/ann/b, \"/home/ann/c\") `cd /home/ann/d` /home/anna /home/ann")
	if want := "hooks: ~/a (/srv/home/ann/b, \"~/c\") `cd /home/ann/d` /home/anna /home/ann"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
