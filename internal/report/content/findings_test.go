package content

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/reporttest"
)

// A finding keeps its identity when lines and commits change, and no two of a
// report share one.
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
