package content

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// A finding keeps its identity when lines and commits change, and identities in a report are unique.
func TestIdentities(t *testing.T) {
	f := reporttest.OneFail().Findings[0]
	moved := f
	moved.Line, moved.Commit, moved.Message = 99, reporttest.Base, "in other words"
	other := reporttest.Modified(7, 40)
	list := []finding.Finding{f, other}
	names := Identities(list, []finding.Finding{moved})
	if names[&list[0]] != f.Fingerprint() || Identities([]finding.Finding{moved})[nil] != "" || moved.Fingerprint() != f.Fingerprint() {
		t.Errorf("names: %v", names)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("two findings are called %s", name)
		}
		seen[name] = true
	}
	if !seen[f.Fingerprint()+":2"] {
		t.Errorf("the second of two equal ones has no number: %v", names)
	}
}

// A finding of an earlier commit is shown at its entry in the head.
func TestPlaces(t *testing.T) {
	r := &finding.Report{Examined: finding.Examined{Head: reporttest.Head}, Ledgers: []finding.LedgerState{
		{Path: "other"},
		{Path: "log", Log: []finding.LogEntry{{Line: 10, Timestamp: "a"}, {Line: 20, Timestamp: "b"}, {Line: 30, Timestamp: "b"}}},
	}}
	places := PlacesOf(r)
	for _, tt := range []struct {
		name string
		f    finding.Finding
		want int
	}{
		{"at the head", finding.Finding{Path: "log", Line: 5, Commit: reporttest.Head, Entry: &finding.EntryRef{Line: 4, Timestamp: "b"}}, 5},
		{"not committed", finding.Finding{Path: "log", Line: 5, Entry: &finding.EntryRef{Line: 4, Timestamp: "b"}}, 5},
		{"another log", finding.Finding{Path: "other", Line: 5, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "b"}}, 5},
		{"gone", finding.Finding{Path: "log", Line: 5, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "c"}}, 5},
		{"no timestamp", finding.Finding{Path: "log", Line: 5, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4}}, 5},
		{"the entry", finding.Finding{Path: "log", Line: 4, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "b"}, EditTo: "x"}, 20},
		{"a line of it", finding.Finding{Path: "log", Line: 6, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "b"}, EditTo: "x"}, 22},
		{"more lines than it has", finding.Finding{Path: "log", Line: 40, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "a"}, EditTo: "x"}, 10},
		{"deleted", finding.Finding{Path: "log", Line: 6, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "a"}}, 10},
		{"the child's first", finding.Finding{Path: "log", Line: 4, Commit: reporttest.Base, Entry: &finding.EntryRef{Line: 4, Timestamp: "a"}, EntryAfter: &finding.EntryRef{Line: 4, Timestamp: "b"}}, 20},
	} {
		if got := places.Line(&tt.f); got != tt.want {
			t.Errorf("%s: line %d, want %d", tt.name, got, tt.want)
		}
	}
	if places.Path("x") != "x" || places.Path("") != "other" || PlacesOf(&finding.Report{}).Path("") != ".small" {
		t.Error("a finding without a file is shown in the wrong one")
	}
}
