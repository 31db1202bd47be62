package content

import (
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

// TestManyWarnings demands that a rebase of many commits does not bury the rest: one of their warnings is shown, and the others are
// counted. A few warnings are all shown, and errors of two commits are never grouped.
func TestManyWarnings(t *testing.T) {
	list := func(severity finding.Severity, n int) (out []finding.Finding) {
		for i := range n {
			out = append(out, finding.Finding{Severity: severity, Rule: "append-only/reconciled-insertion", Path: "a", Commit: fmt.Sprint(i)})
		}
		return out
	}
	groups := Groups(list(finding.SeverityWarning, 97))
	if len(groups) != 1 || len(groups[0]) != 97 || InGroup(groups[0]) != 1 {
		t.Errorf("%d groups of 97 warnings", len(groups))
	}
	if few := Groups(list(finding.SeverityWarning, 3)); len(few) != 3 || InGroup(few[0]) != 1 {
		t.Errorf("%d groups of 3 warnings", len(few))
	}
	if errors := Groups(list(finding.SeverityError, 97)); len(errors) != 97 {
		t.Errorf("%d groups of 97 errors", len(errors))
	}
}
