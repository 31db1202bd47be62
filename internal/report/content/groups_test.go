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
	if len(groups) != 1 || len(groups[0]) != 97 || MostShown(groups[0]) != 1 {
		t.Errorf("%d groups of 97 warnings", len(groups))
	}
	if few := Groups(list(finding.SeverityWarning, 3)); len(few) != 3 || MostShown(few[0]) != 1 {
		t.Errorf("%d groups of 3 warnings", len(few))
	}
	if errors := Groups(list(finding.SeverityError, 97)); len(errors) != 97 {
		t.Errorf("%d groups of 97 errors", len(errors))
	}
}

// TestOneOfEachRule demands that many findings of one rule hide no other rule, and that findings beyond the limit are counted by rule.
func TestOneOfEachRule(t *testing.T) {
	var all []finding.Finding
	for i := range 200 {
		all = append(all, finding.Finding{Rule: "lint/a", Severity: finding.SeverityError, Path: fmt.Sprint("f", i), Commit: "c"})
	}
	for _, rule := range []string{"append-only/deleted", "lint/b"} {
		all = append(all, finding.Finding{Rule: rule, Severity: finding.SeverityError, Path: "g", Commit: "d"})
	}
	groups := Groups(all)
	shown, rules := 0, map[string]int{}
	for i, n := range Shown(groups) {
		shown += n
		rules[groups[i][0].Rule] += n
	}
	if shown != MaxFindings || rules["append-only/deleted"] != 1 || rules["lint/b"] != 1 {
		t.Errorf("%d shown: %v", shown, rules)
	}
	if got, want := ByRule(all), "lint/a (200), append-only/deleted (1), lint/b (1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := ByRule(all[:MaxFindings]); got != "" {
		t.Errorf("%q for what is all shown", got)
	}
}
