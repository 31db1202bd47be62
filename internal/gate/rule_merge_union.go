package gate

import "fmt"

var ruleMergeUnion = Rule{
	ID: "config/merge-union", Severity: SeverityWarning, Stage: StagePolicy,
	Summary: "git's attributes have it join both sides' lines where a workspace's file is merged",
	Why: `With merge=union git puts both sides' lines one after the other and reports no conflict. In a log that
looks right and is not: entries stand out of order, nobody says that two worked at once, and where two
entries begin alike git joins them into one, which has lost entries in real repositories. Take the
attribute away, or have "small-hook install --merge-driver" put its own line behind it: then git stops
where both sides changed a file, and "small-hook reconcile" brings them together.`,
	Wrong: `
-- 1/.gitattributes --
*.small.yml merge=union
-- 2/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "in_progress"}
`,
	Right: `
-- 1/.gitattributes --
*.md merge=union
**/.small/*.small.yml merge=small-gate
-- 2/.small/plan.small.yml --
small_version: "1.0.0"
owner: "agent"
tasks:
  - {id: "task-1", title: "Read the export", status: "in_progress"}
`,
	Policy: checkMergeUnion,
}

// checkMergeUnion reports each line that says so once, with the first of the
// files that it is about.
func checkMergeUnion(v *policyView, r *reporter) {
	told := map[string]int{}
	for _, u := range v.unions {
		told[fmt.Sprint(u.said.File, ":", u.said.Line)]++
	}
	for _, u := range v.unions {
		key := fmt.Sprint(u.said.File, ":", u.said.Line)
		n := told[key]
		if n == 0 {
			continue
		}
		delete(told, key)
		what := u.path
		if n > 1 {
			what += fmt.Sprintf(" and %s", count(n-1, "more file"))
		}
		r.add(Finding{
			Path: u.said.File, Line: u.said.Line, subject: u.path,
			Message: fmt.Sprintf("merge=union holds for %s: git joins both sides' lines there and reports no conflict", what),
			Fix:     "take merge=union away for these files, or put a line behind it: small-hook install --merge-driver",
		})
	}
}
