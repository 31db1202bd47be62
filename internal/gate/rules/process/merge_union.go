package process

import (
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/wording"
)

// MergeUnion is config/merge-union: a git attribute has git join both sides' lines when it merges a workspace's file.
var MergeUnion = rule.New("config/merge-union", finding.SeverityWarning, finding.StagePolicy, rule.On(checkMergeUnion))

// checkMergeUnion reports each line of attributes once, with the first of its files.
func checkMergeUnion(v *subject.Policy, r *rule.Reporter) {
	seen := map[string]int{}
	for _, u := range v.Unions {
		seen[fmt.Sprint(u.Setting.File, ":", u.Setting.Line)]++
	}
	for _, u := range v.Unions {
		key := fmt.Sprint(u.Setting.File, ":", u.Setting.Line)
		n := seen[key]
		if n == 0 {
			continue
		}
		delete(seen, key)
		what := u.Path
		if n > 1 {
			what += fmt.Sprintf(" and %s", wording.Count(n-1, "more file"))
		}
		r.Add(finding.Finding{
			Path: u.Setting.File, Line: u.Setting.Line, Subject: u.Path,
			Message: fmt.Sprintf("merge=union holds for %s: git joins both sides' lines there and reports no conflict", what),
			Fix:     "remove merge=union for these files, or override it with `small-hook install --merge-driver`",
		})
	}
}
