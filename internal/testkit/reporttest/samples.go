// Package reporttest has reports and hostile texts for testing the formats.
package reporttest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Sample is a report with a name.
type Sample struct {
	Name   string
	Report *finding.Report
}

// Samples are the reports with golden files for each format in testdata.
func Samples() []Sample {
	return []Sample{
		{"none", OnePass()},
		{"one", OneFail()},
		{"many", Many()},
		{"failure", Failed()},
		{"hostile", Hostile("a\x1b[31m\x00\n::error::x ##[group] ##vso[x] \u202e\u200b\u2028\u009b\xff ::stop-commands::t")},
	}
}

// The log and the commits of the samples.
const (
	Progress = ".small/progress.small.yml"
	Base     = "eeca68fe0123456789abcdef0123456789abcdef"
	Head     = "1c8dd2390123456789abcdef0123456789abcdef"
)

func examined() finding.Examined {
	return finding.Examined{
		Commits: 16, Workspaces: 1, Base: Base, Head: Head, Policy: "HEAD", Reader: "git",
		Repository: "example/ledger", Branch: "feature", CommitLink: "https://git.example.com/example/ledger/commit/",
	}
}

// OnePass is a report without findings.
func OnePass() *finding.Report {
	return &finding.Report{
		Tool: "small-hook", Time: time.Date(2026, 4, 2, 9, 30, 0, 0, time.UTC),
		Mode: "range", Verdict: finding.Pass, Examined: examined(),
		Ledgers: []finding.LedgerState{{Path: Progress, Entries: 36, Head: Digest("head"), Log: logEntries(36)}},
	}
}

// logEntries is n entries of three runs; the first two entries are of none.
func logEntries(n int) []finding.LogEntry {
	out := make([]finding.LogEntry, n)
	for i := range out {
		e := Entry(i, 4+5*i, "")
		out[i] = finding.LogEntry{Line: e.Line, TaskID: e.TaskID, Timestamp: e.Timestamp}
		if i > 1 {
			out[i].ReplayID = strings.Repeat(fmt.Sprint(i%3), 64)
		}
	}
	return out
}

// OneFail is a report with one finding.
func OneFail() *finding.Report {
	r := OnePass()
	r.Mode, r.Verdict = "audit", finding.Fail
	r.Commits = []finding.Commit{{ID: Head, Author: "Ada Lovelace", Subject: "Tidy the log up", Date: "2026-01-02T03:05:00+01:00"}}
	r.Findings = []finding.Finding{Modified(0, 4,
		ledger.FieldChange{Field: "notes", From: "all tests pass", To: "all tests passed", HasFrom: true, HasTo: true})}
	return r
}

// Modified is a finding about a changed entry.
func Modified(index, line int, changes ...ledger.FieldChange) finding.Finding {
	before, after := Entry(index, line, "old"), Entry(index, line, "new")
	return finding.Finding{
		Rule: "append-only/modified", Severity: finding.SeverityError, Stage: finding.StageHistory,
		Message: fmt.Sprintf("entry %d was changed after it was recorded", index+1),
		Path:    Progress, Line: line + 2, Column: 5, Commit: Head, Parent: Base,
		Entry: before, EntryAfter: after, Changes: changes,
		EditFrom: before.Digest.String(), EditTo: after.Digest.String(),
		Fix: "git show " + Base[:12] + ":" + Progress + " shows the entry as it was; restore it and append a correcting entry",
	}
}

// Entry is an entry of the samples' log.
func Entry(index, line int, content string) *finding.EntryRef {
	return &finding.EntryRef{
		Index: index, Line: line, TaskID: fmt.Sprintf("task-%d", index),
		Timestamp: fmt.Sprintf("2026-01-02T03:04:%02d.000000000Z", index%60), Digest: Digest(content, index), Compared: Digest(content, index),
	}
}

// Digest is a digest of anything.
func Digest(parts ...any) small.Digest { return sha256.Sum256([]byte(fmt.Sprint(parts...))) }

// Many has each kind of finding once, and one kind many times.
func Many() *finding.Report {
	both := func(field, from, to string) ledger.FieldChange {
		return ledger.FieldChange{Field: field, From: from, To: to, HasFrom: true, HasTo: true}
	}
	long := strings.Repeat("the quick brown fox ", 12)
	r := OneFail()
	r.Strict, r.Examined.Policy = true, "built-in defaults"
	r.Findings = []finding.Finding{
		{Rule: "config/changed", Severity: finding.SeverityWarning, Stage: finding.StagePolicy, Message: "this change edits the policy",
			Path: ".small-gate.yml", Line: 3, Column: 1, Commit: Head, Parent: Base},
		Modified(0, 4, both("evidence", "\tgo test ./...\tok", "    go test ./...    ok")),
		Modified(1, 9, both("evidence", long+"jumps over the lazy dog, "+long, long+"jumped over the lazy dog, "+long),
			both("verification", "one\ntwo\nthree\nfour", "one\nzwei\nzwei und halb\nthree\nfour"),
			ledger.FieldChange{Field: "test", From: `{"name":"unit"}`, HasFrom: true},
			ledger.FieldChange{Field: "link", To: "https://example.com/run/1", HasTo: true}),
		Modified(2, 14, both("timestamp", "2026-01-02T03:04:02Z", "2026-01-02T03:04:02.000000000Z")),
	}
	for i := 3; i < 20; i++ {
		r.Findings = append(r.Findings, Modified(i, 4+5*i, both("notes", "done", "done.")))
	}
	moved := Entry(22, 120, "moved")
	r.Findings = append(r.Findings,
		finding.Finding{Rule: "append-only/reordered", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "entry 21 stands elsewhere now",
			Path: Progress, Line: 120, Column: 5, Parent: Head, Entry: Entry(20, 104, "moved"), EntryAfter: moved,
			Fix: "put the entries back in their order:\n  git checkout HEAD -- .small/progress.small.yml\nthen append yours"},
		finding.Finding{Rule: "append-only/inserted", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "an entry was put before older ones",
			Path: Progress, Line: 130, Column: 5, Commit: Head, Parent: Base, EntryAfter: &finding.EntryRef{Index: 4, Line: 130}},
		finding.Finding{Rule: "validate/missing-artifact", Severity: finding.SeverityError, Stage: finding.StageValidate, Message: "the intent is missing",
			Path: "pkg/ünïcode name/.small/intent.small.yml", Fix: "restore or create it"},
		finding.Finding{Rule: "divergence/run", Severity: finding.SeverityError, Stage: finding.StageHistory, Message: "both sides started a run"},
	)
	r.Findings = append(r.Findings, Forked())
	waived := Modified(30, 200, both("notes", "token abc", "token removed"))
	waived.Reason = "redacted before the release"
	r.Waived = []finding.Finding{waived}
	return r
}

// Forked is a finding about two diverged branches.
func Forked() finding.Finding {
	f := finding.Finding{
		Rule: "divergence/concurrent-append", Severity: finding.SeverityError, Stage: finding.StageHistory,
		Message: "both branches recorded work since they parted", Path: "fork/" + Progress, Line: 9, Column: 5, Commit: Head, Parent: Base,
		Entry: Entry(7, 9, "fork"), EditFrom: Digest("ours").String(), EditTo: Digest("theirs").String(),
		Common: finding.Common{Count: 7, Last: []finding.EntryRef{*Entry(6, 8, "meta/init")}},
		Sides:  []finding.Side{{Name: Base[:12], Entries: []finding.EntryRef{*Entry(7, 9, "a")}}, {Name: Head[:12]}},
		Fix:    "git merge " + Base[:12],
	}
	for i := range 7 {
		f.Sides[1].Entries = append(f.Sides[1].Entries, *Entry(7+i, 9+3*i, "b"))
	}
	return f
}

// Failed is the report of a failed judgement.
func Failed() *finding.Report {
	return &finding.Report{
		Mode: "range", Verdict: finding.Error, Examined: finding.Examined{Reader: "git"},
		Failure: &failure.Error{
			Message: "the clone is shallow and does not hold commit " + Base,
			Remedy:  "fetch the rest:\n  git fetch --unshallow\nor in the workflow, under actions/checkout:\n  fetch-depth: 0",
			Err:     errors.New("not shown"),
		},
	}
}

// Hostile has the text in every text field.
func Hostile(s string) *finding.Report {
	ref := &finding.EntryRef{Index: 1, Line: 2, TaskID: s, Timestamp: s, Digest: Digest(s)}
	f := finding.Finding{
		Rule: s, Severity: finding.SeverityError, Stage: finding.Stage(s), Message: s, Path: s, Line: 3, Column: 4, Commit: s, Parent: s,
		Entry: ref, EntryAfter: ref, Fix: s, Reason: s,
		Changes: []ledger.FieldChange{
			{Field: s, From: s, To: "x" + s, HasFrom: true, HasTo: true},
			{Field: s, From: s + "a\nb", To: s + "\nb\r\n", HasFrom: true, HasTo: true},
			{Field: s, From: s + " ", To: s + "\t", HasFrom: true, HasTo: true},
			{Field: s, From: s, HasFrom: true},
			{Field: s, To: s, HasTo: true},
		},
		Common: finding.Common{Count: 1, Last: []finding.EntryRef{*ref}},
		Sides:  []finding.Side{{Name: s, Entries: []finding.EntryRef{*ref}}, {Name: s, Entries: []finding.EntryRef{*ref, *ref}}},
	}
	short := f
	short.Severity, short.Line, short.Entry = finding.SeverityWarning, 0, nil
	return &finding.Report{
		Mode: s, Verdict: finding.Error, Examined: finding.Examined{Base: s, Head: s, Policy: s, Reader: s, Source: s, Notes: []string{s}, Repository: s, Branch: s, CommitLink: s},
		Commits: []finding.Commit{{ID: s, Author: s, Subject: s, Date: s}},
		Ledgers: []finding.LedgerState{{Path: s, Head: Digest(s), Log: []finding.LogEntry{
			{Line: 1, TaskID: s, Timestamp: s, ReplayID: s}, {Line: 3, TaskID: s, Timestamp: "2026-01-02T03:04:05.6Z"},
		}}},
		Findings: []finding.Finding{f, short}, Waived: []finding.Finding{f},
		Failure: &failure.Error{Message: s, Remedy: s},
	}
}
