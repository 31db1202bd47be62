package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
)

// TestDescribeCommits reads each commit that findings name once, and none without a finding.
func TestDescribeCommits(t *testing.T) {
	h := newMemoryHistory()
	first, second := h.commit(fileTree{}), h.commit(fileTree{})
	h.sign(first, history.Signature{Name: "Ada", Date: "2026-03-01T09:00:00Z", Message: strings.Repeat("x", 100) + "\n\nmore"})
	h.sign(second, history.Signature{Name: "Bo\x1b[31m", Message: "two\nlines"})
	r := &finding.Report{Findings: []finding.Finding{{Commit: second}, {}, {Commit: second}}, Waived: []finding.Finding{{Commit: first}}}
	for range 2 {
		if err := run.DescribeCommits(context.Background(), h, r); err != nil {
			t.Fatal(err)
		}
	}
	want := []finding.Commit{
		{ID: second, Author: "Bo\x1b[31m", Subject: "two lines"},
		{ID: first, Author: "Ada", Subject: strings.Repeat("x", 80) + "…", Date: "2026-03-01T09:00:00Z"},
	}
	if diff := cmp.Diff(want, r.Commits); diff != "" {
		t.Errorf("commits differ (-want +got):\n%s", diff)
	}
	if err := run.DescribeCommits(context.Background(), h, &finding.Report{Findings: []finding.Finding{{Commit: hexID("missing")}}}); err == nil {
		t.Error("a commit that is missing is no error")
	}
	many := &finding.Report{}
	for range 1000 {
		many.Findings = append(many.Findings, finding.Finding{Commit: h.commit(fileTree{})})
	}
	if err := run.DescribeCommits(context.Background(), h, many); err != nil || len(many.Commits) != 300 {
		t.Errorf("%d commits of 1000 are described: %v", len(many.Commits), err)
	}
	if err := run.DescribeCommits(context.Background(), nil, &finding.Report{Ledgers: []finding.LedgerState{{}}}); err != nil {
		t.Error(err)
	}
}
