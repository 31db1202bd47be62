package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/directory"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/plain"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// agentPaths are what the workflow of TestAgentFiles names, and what is to be
// said about it: nothing if there is a file.
var agentPaths = []struct{ text, want string }{
	{"agents/a.md", ""},
	{"./agents/../agents/a.md", ""},
	{"nowhere/../agents/a.md", ""}, // cleaned as text
	{".hidden/a.md", ""},
	{"odd [1]*.md", ""},
	{"rooted.md", ""}, // the second root has it
	{"linked.md", ""}, // once, and up and away
	{"agents/up.md", ""},
	{"agents/none.md", `which does not exist | commit a file at "kit/agents/none.md" or "base/agents/none.md", or correct the path`},
	{"agents", "which does not exist"},
	{"folder/a.md", "which does not exist"}, // behind a link to a folder
	{"module", "which does not exist"},
	{"module/a.md", "which does not exist"},
	{"odd [2]*.md", "which does not exist"},
	{".git/config", "which does not exist"},
	{strings.Repeat("x/", 200) + "x", "which does not exist"},
	{"twice.md", `a symbolic link to no file in this repository | point the link "kit/twice.md" at a file, or replace it with the file`},
	{"dangling.md", "a symbolic link to no file"},
	{"folder", "a symbolic link to no file"},
	{"circle", "a symbolic link to no file"},
	{"outside.md", "a symbolic link to no file"},
	{"absolute.md", "a symbolic link to no file"},
	{"long.md", "a symbolic link to no file"},
	{`nul\0.md`, "which lies outside the folders where agents are looked for"},
	{strings.Repeat("x", 5000), "which lies outside"},
	{".", "which lies outside"},
	{"../base/rooted.md", "which lies outside"},
	{"/etc/passwd", "which lies outside"},
}

// TestAgentFiles: an agent is a file of the tree, or a symbolic link straight to
// one, and every reader says the same.
func TestAgentFiles(t *testing.T) {
	r := gittest.New(t)
	for _, path := range []string{"kit/agents/a.md", "shared/agents/a.md", "kit/.hidden/a.md", "kit/odd [1]*.md", "base/rooted.md"} {
		r.Write(path, "Do it.")
	}
	for path, target := range map[string]string{
		"kit/linked.md": "agents/a.md", "kit/agents/up.md": "../../shared/agents//a.md", "kit/twice.md": "linked.md",
		"kit/dangling.md": "agents/none.md", "kit/folder": "../shared/agents", "kit/circle": "circle",
		"kit/outside.md": "../../a.md", "kit/absolute.md": filepath.Join(r.Dir, "kit/agents/a.md"),
		"kit/long.md": strings.Repeat("agents/../", 405) + "agents/b.md",
	} {
		if err := os.Symlink(target, r.Path(path)); err != nil {
			t.Fatal(err)
		}
	}
	const config = "version: 1\nworkflows: {roots: [base]}\n"
	r.Write(policy.File, config)
	var b strings.Builder
	b.WriteString("---\nphases:\n")
	for i, a := range agentPaths {
		fmt.Fprintf(&b, "  - {name: p%d, agent: \"%s\"}\n", i, a.text)
	}
	r.Write("kit/workflows/ship/workflow.md", b.String()+"---\n")
	r.Git("add", "-A")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",kit/module")
	r.Git("commit", "-q", "-m", "a kit")

	git, err := githistory.Open(t.Context(), r.Dir, githistory.Options{Environ: r.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	own, err := plain.Open(t.Context(), r.Dir, r.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, err := range []error{git.Close(), own.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	}()
	files, err := directory.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(config string) map[string]*finding.Report {
		opts := testOptions()
		if opts.Policy, err = policy.Parse("the test", []byte(config), catalogue.Known()); err != nil {
			t.Fatal(err)
		}
		return map[string]*finding.Report{
			"git, commit": gate.CheckAll(t.Context(), git, r.ID("HEAD"), "", opts), "git, index": gate.CheckAll(t.Context(), git, history.Index, "", opts),
			"go-git, commit": gate.CheckAll(t.Context(), own, r.ID("HEAD"), "", opts), "go-git, index": gate.CheckAll(t.Context(), own, history.Index, "", opts),
			"files": gate.CheckAll(t.Context(), files, "", "", opts),
		}
	}
	for name, report := range judge(config) {
		wantAgents(t, name, report, finding.SeverityError)
	}
	for name, report := range judge("version: 1\nworkflows: {roots: [base], agents: optional}\n") {
		wantAgents(t, "optional, "+name, report, finding.SeverityWarning)
	}
}

// wantAgents compares a report with what agentPaths say of it.
func wantAgents(t *testing.T, name string, report *finding.Report, severity finding.Severity) {
	t.Helper()
	want, got := make([]string, len(agentPaths)), make([]string, len(agentPaths))
	for _, f := range report.Findings {
		if f.Rule != "workflow/agent" {
			continue
		}
		needsFix(t, f)
		i := f.Line - 3
		if got[i] = f.Message + " | " + f.Fix; strings.Contains(got[i], agentPaths[i].want) && agentPaths[i].want != "" {
			got[i] = agentPaths[i].want
		}
		if f.Severity != severity {
			t.Errorf("%s: %s is %s", name, f.Message, f.Severity)
		}
	}
	for i, a := range agentPaths {
		want[i] = a.want
	}
	if report.Failure != nil {
		t.Errorf("%s: %v", name, report.Failure)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
