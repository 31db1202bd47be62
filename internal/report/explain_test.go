package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
)

// explained has a rule for each kind of example: files, a history, branches, and something other than a regular file.
var explained = []rule.Rule{
	{
		ID: "lint/blank", Severity: finding.SeverityError,
		Doc: rule.Doc{
			Summary: "a text that must say something is blank",
			Why:     "Some texts are the point of their file.\nA blank one has the right shape and tells nobody anything, whatever the tool was\nthat wrote it.\n\nSay what is meant.",
			Wrong:   "\n-- .small/plan.small.yml --\ntasks:\n  - title: \" \"\n",
			Right:   "\n-- .small/plan.small.yml --\ntasks:\n\n  - title: \"Read the export\"\n\n",
		},
	},
	{
		ID: "lint/layout", Severity: finding.SeverityError, StrictOnly: true,
		Doc: rule.Doc{
			Summary: "something else than the six protocol files lies in .small/, where only those six belong",
			Why:     "Tools treat .small/ as theirs.",
			Wrong:   "-- .small/notes --\n# symlink: ../notes\n-- .small/sub --\n# submodule: 1234567\n",
			Right:   "-- .small/notes --\n# deleted\n",
		},
	},
	{
		ID: "append-only/reconciled-insertion", Severity: finding.SeverityWarning,
		Doc: rule.Doc{
			Summary: "entries were inserted",
			Why:     "Such a commit cannot be told from another.",
			Wrong:   "-- 1/a.yml --\na: 1\n-- 2/a.yml --\n# deleted\n",
			Right:   "-- 1/a.yml --\na: 1\n",
		},
	},
	{
		ID: "divergence/lost-entry", Severity: finding.SeverityError,
		Doc: rule.Doc{
			Summary: "a merge lost an entry of one side",
			Why:     "A merge takes both sides' work.",
			Wrong:   "-- ours/a.yml --\na: 1\n-- theirs/a.yml --\na: 2\n-- merge/a.yml --\na: 1\n",
			Right:   "-- ours/a.yml --\na: 1\n",
		},
	},
}

func TestExplain(t *testing.T) {
	for _, rule := range explained {
		t.Run(rule.ID, func(t *testing.T) {
			var out bytes.Buffer
			if err := Explain(&out, rule); err != nil {
				t.Fatal(err)
			}
			golden(t, "explain_"+strings.ReplaceAll(rule.ID, "/", "-")+".txt", out.String())
		})
	}
}

func TestExplainList(t *testing.T) {
	var out bytes.Buffer
	if err := ExplainList(&out, explained); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain_list.txt", out.String())
}

// Every existing rule can be explained, and its words fit the width.
func TestExplainEveryRule(t *testing.T) {
	for _, rule := range catalogue.All() {
		var out bytes.Buffer
		if err := Explain(&out, rule); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "  ") && utf8.RuneCountInString(line) > explainWidth {
				t.Errorf("%s: the line is too long: %s", rule.ID, line)
			}
			if line != strings.TrimRight(line, " ") {
				t.Errorf("%s: the line ends in spaces: %q", rule.ID, line)
			}
		}
	}
}

func TestExplainReturnsTheErrorOfTheWriter(t *testing.T) {
	broken := errors.New("no space left on device")
	w := writer(func([]byte) (int, error) { return 0, broken })
	if err := Explain(w, explained[0]); !errors.Is(err, broken) {
		t.Errorf("Explain: error = %v, want %v", err, broken)
	}
	if err := ExplainList(w, explained); !errors.Is(err, broken) {
		t.Errorf("ExplainList: error = %v, want %v", err, broken)
	}
}

// golden compares an output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant, run the test with -update:\n%s", path, diff)
	}
}
