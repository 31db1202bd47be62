package gate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

var (
	quoted      = regexp.MustCompile("`([^`]*)`")
	placeholder = regexp.MustCompile(`\b[A-Z][A-Z_]{2,}\b|\.\.\.|…`)
	// names are those of git and of the environment.
	names = regexp.MustCompile(`\b(?:ORIG_)?HEAD\b|\bSMALL_[A-Z_]+\b`)
)

// checkFixes demands that the text between backticks in a fix is a whole command that can be typed as it is: with nothing to fill in, and
// none that opens an editor.
func checkFixes(t *testing.T, r *finding.Report) {
	t.Helper()
	for _, f := range r.Findings {
		if strings.Count(f.Fix, "`")%2 != 0 {
			t.Errorf("%s: a backtick is left over: %s", f.Rule, f.Fix)
		}
		for _, m := range quoted.FindAllStringSubmatch(f.Fix, -1) {
			if left := names.ReplaceAllString(m[1], ""); placeholder.MatchString(left) {
				t.Errorf("%s: there is something to fill in: %s", f.Rule, m[1])
			}
			if strings.Contains(m[1], "rebase -i") || m[1] == "git commit" {
				t.Errorf("%s: it opens an editor: %s", f.Rule, m[1])
			}
			if takesBack.MatchString(m[1]) {
				t.Errorf("%s: it takes commits back: %s", f.Rule, m[1])
			}
			if program, _, _ := strings.Cut(m[1], " "); !typed[program] {
				t.Errorf("%s: it is no command: %s", f.Rule, m[1])
			}
		}
	}
}

// takesBack are the commands that take commits back, or move them.
var takesBack = regexp.MustCompile(`\bgit (?:-\S+ )*(?:reset|rebase|stash|clean|filter-branch)\b|--force`)

// typed are the programs that fixes name.
var typed = map[string]bool{"git": true, "small-hook": true, "small": true, "printf": true, "export": true}

// TestHostileFix demands that no text of a file gets between the backticks of a fix: an id with backticks must not become a command.
func TestHostileFix(t *testing.T) {
	const id = "a `touch pwned` b"
	e := newExample(t, "-- .small/plan.small.yml --\nsmall_version: \"1.0.0\"\nowner: \"agent\"\ntasks:\n  - {id: \""+id+"\", title: \"x\", status: \"completed\", lease: 1}\n  - {id: \""+id+"\", title: \"`touch pwned`\"}\n"+
		"-- .small/progress.small.yml --\nsmall_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n  - {task_id: \"`touch pwned`\", timestamp: \"`touch pwned`\", notes: \"`touch pwned`\", \"`touch pwned`\": 1}\n"+
		"-- .small/handoff.small.yml --\nsmall_version: \"1.0.0\"\nowner: \"agent\"\nsummary: \"x\"\nresume: {next_steps: [], current_task_id: \"`touch pwned`\"}\nlinks: []\nreplayId: {value: \"`touch pwned`\", source: \"`touch pwned`\"}\n"+
		"-- .small/`touch pwned` --\nx\n-- .small/workspace.small.yml --\nkind: \"`touch pwned`\"\n")
	r := gate.Check(t.Context(), e, e.tip, "", run.Options{Mode: "check", Strict: true, Now: exampleNow, Policy: policy.Default()})
	if len(r.Findings) < 8 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	checkFixes(t, r)
	for _, f := range r.Findings {
		for _, m := range quoted.FindAllStringSubmatch(f.Fix, -1) {
			if strings.HasPrefix(m[1], "touch") {
				t.Errorf("%s: %s", f.Rule, f.Fix)
			}
		}
	}
}
