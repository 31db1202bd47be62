package gate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/finding"
)

var (
	quoted      = regexp.MustCompile("`([^`]*)`")
	placeholder = regexp.MustCompile(`\b[A-Z][A-Z_]{2,}\b|\.\.\.|…`)
	// names are those of git and of the environment.
	names = regexp.MustCompile(`\b(?:ORIG_)?HEAD\b|\bSMALL_[A-Z_]+\b`)
)

// checkFixes demands that whoever types what stands between backticks in a fix types commands: whole ones, with nothing to be filled in,
// and none that opens an editor.
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
			if program, _, _ := strings.Cut(m[1], " "); !typed[program] {
				t.Errorf("%s: it is no command: %s", f.Rule, m[1])
			}
		}
	}
}

// typed are the programs that fixes name.
var typed = map[string]bool{"git": true, "small-hook": true, "small": true, "printf": true, "export": true}
