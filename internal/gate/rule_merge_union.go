package gate

import "fmt"

var ruleMergeUnion = Rule{
	ID: "config/merge-union", Severity: SeverityWarning, Stage: StagePolicy,
	Checks: []RuleCheck{On(checkMergeUnion)},
}

// checkMergeUnion reports each line that says so once, with the first of the
// files that it is about.
func checkMergeUnion(v *PolicyState, r *Reporter) {
	seen := map[string]int{}
	for _, u := range v.unions {
		seen[fmt.Sprint(u.said.File, ":", u.said.Line)]++
	}
	for _, u := range v.unions {
		key := fmt.Sprint(u.said.File, ":", u.said.Line)
		n := seen[key]
		if n == 0 {
			continue
		}
		delete(seen, key)
		what := u.path
		if n > 1 {
			what += fmt.Sprintf(" and %s", count(n-1, "more file"))
		}
		r.Add(Finding{
			Path: u.said.File, Line: u.said.Line, subject: u.path,
			Message: fmt.Sprintf("merge=union holds for %s: git joins both sides' lines there and reports no conflict", what),
			Fix:     "take merge=union away for these files, or put a line behind it: small-hook install --merge-driver",
		})
	}
}
