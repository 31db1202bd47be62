package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/githistory/embedded"
	"github.com/small-gate/small-gate/internal/gittest"
	"github.com/small-gate/small-gate/internal/policy"
)

// agentPaths are what the workflow of TestAgentFiles names, and what is to be
// said of it: nothing where there is a file.
var agentPaths = []struct{ text, why, fix string }{
	{"agents/a.md", "", ""},
	{"./agents/../agents/a.md", "", ""},
	{"linked.md", "", ""},
	{"folder/a.md", "", ""},
	{"folder/again/deeper/a.md", "", ""},
	{"agents/up.md", "", ""},
	{".hidden/a.md", "", ""},
	{"odd [1]*.md", "", ""},
	{"rooted.md", "", ""}, // the second root has it
	{"agents/none.md", "which is not there", "commit kit/agents/none.md or base/agents/none.md, or correct the path"},
	{"agents/a.md/", "which is not there", "write the path of a file, without a slash at its end: agents/a.md"},
	{"agents/none.md//", "which is not there", "write the path of a file, without a slash at its end: agents/none.md"},
	{`agents\\a.md`, "which is not there", "write the path with slashes: agents/a.md"},
	{"nowhere/../agents/a.md", "", ""}, // by its words
	{"agents/a.md/b.md", "which is not there", "commit kit/agents/a.md/b.md or base/agents/a.md/b.md, or correct the path"},
	{"agents", "which is a directory", "name a file in it"},
	{"agents/", "which is a directory", "name a file in it"},
	{".", "which is a directory", "name a file in it"},
	{"folder", "which is a directory", "name a file in it"},
	{"module", "which is a submodule", "name a file of this repository"},
	{
		"module/a.md", `which lies in the submodule "kit/module": its files are no part of this repository`,
		"copy the file into this repository, and name it there",
	},
	{"dangling.md", `which is not there: the symbolic link "kit/dangling.md" leads to "kit/agents/none.md"`, "commit kit/agents/none.md, or correct the link"},
	{"through.md", `which is not there: the symbolic link "kit/through.md" leads nowhere`, "correct the link, or put the file itself in its place"},
	{"behind.md", `which is not there: the symbolic link "kit/behind.md" leads nowhere`, "correct the link, or put the file itself in its place"},
	{"folder/none.md", `which is not there: the symbolic link "kit/folder" leads to "shared/agents/none.md"`, "commit shared/agents/none.md, or correct the link"},
	{"circle/a.md", `which is not there: the symbolic link "kit/circle" goes round in a circle`, "correct the link, or put the file itself in its place"},
	{"ping", `which is not there: the symbolic link "kit/ping" goes round in a circle`, "correct the link, or put the file itself in its place"},
	{"outside.md", `which is not there: the symbolic link "kit/outside.md" leads out of WHOLE`, "correct the link, or put the file itself in its place"},
	{"absolute.md", `which is not there: the symbolic link "kit/absolute.md" leads out of WHOLE`, "correct the link, or put the file itself in its place"},
	{"odd [2]*.md", "which is not there", `commit "kit/odd [2]*.md" or "base/odd [2]*.md", or correct the path`},
	{`nul\0.md`, "which no file of a repository can be called", "correct the path: it is one such as agents/planner.md"},
	{".git/config", "which no file of a repository can be called", "correct the path: it is one such as agents/planner.md"},
	{strings.Repeat("x/", 200) + "x", "which no file of a repository can be called", "correct the path: it is one such as agents/planner.md"},
	{"long.md", "", ""},
	{"deep.md", `which is not there: the symbolic link "kit/deep.md" leads nowhere`, "correct the link, or put the file itself in its place"},
	{"../base/rooted.md", outsideFolders, agentAdvice},
	{"../../..", outsideFolders, agentAdvice},
	{"..", outsideFolders, agentAdvice},
	{"/etc/passwd", outsideFolders, agentAdvice},
}

const (
	outsideFolders = "which lies outside the folders where agents are looked for"
	agentAdvice    = "put the file below kit/ or below base/, and write its path as it is seen from there, such as agents/planner.md"
)

// TestAgentFiles: symbolic links are followed as far as they lead inside the
// repository, what is no file is told, and every reader says the same.
func TestAgentFiles(t *testing.T) {
	r := gittest.New(t)
	for _, path := range []string{
		"kit/agents/a.md", "shared/agents/a.md", "shared/deeper/a.md", "kit/.hidden/a.md", "kit/odd [1]*.md", "base/rooted.md",
	} {
		r.Write(path, "Do it.")
	}
	for path, target := range map[string]string{
		"kit/linked.md": "agents/a.md", "kit/folder": "../shared/agents", "shared/agents/again": "./../", "kit/agents/up.md": "../../shared/agents//a.md",
		"kit/dangling.md": "agents/none.md", "kit/through.md": "none/../agents/a.md", "kit/behind.md": "agents/a.md/",
		"kit/long.md": strings.Repeat("./", 200) + "agents/a.md",
		"kit/deep.md": strings.Repeat("agents/../", 200) + "agents/a.md",
		"kit/circle":  "circle", "kit/ping": "pong", "kit/pong": "ping",
		"kit/outside.md": "../../a.md", "kit/absolute.md": filepath.Join(r.Dir, "kit/agents/a.md"),
	} {
		if err := os.Symlink(target, r.Path(path)); err != nil {
			t.Fatal(err)
		}
	}
	r.Write(policy.File, "version: 1\nworkflows: {roots: [base]}\n")
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
	own, err := embedded.Open(t.Context(), r.Dir, r.Environ())
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
	config, err := policy.Parse("the test", []byte("version: 1\nworkflows: {roots: [base]}\n"), gate.RuleIDs())
	if err != nil {
		t.Fatal(err)
	}
	opts := testOptions()
	opts.Policy = config
	for name, report := range map[string]*gate.Report{
		"git, commit": gate.CheckAll(t.Context(), git, r.ID("HEAD"), opts), "git, index": gate.CheckAll(t.Context(), git, gate.Index, opts),
		"go-git, commit": gate.CheckAll(t.Context(), own, r.ID("HEAD"), opts), "go-git, index": gate.CheckAll(t.Context(), own, gate.Index, opts),
		"a directory of a commit": gate.CheckAll(t.Context(), gate.Below(git, "kit"), r.ID("HEAD"), opts),
		"files":                   gate.CheckAll(t.Context(), files, "", opts),
	} {
		wantAgents(t, name, report)
	}
}

// wantAgents compares a report with what agentPaths say of it. On disk nothing
// lies where git has a submodule.
func wantAgents(t *testing.T, name string, report *gate.Report) {
	t.Helper()
	var want, got []string
	for i, a := range agentPaths {
		whole := "the repository"
		if name == "files" {
			whole = "the directory that is judged"
			if strings.HasPrefix(a.text, "module") {
				a.why, a.fix = "which is not there", fmt.Sprintf("commit kit/%s or base/%s, or correct the path", a.text, a.text)
			}
		}
		if a.why != "" {
			text := strings.NewReplacer(`\0`, "\x00", `\\`, `\`).Replace(a.text) // as YAML reads it
			if len(text) > 120 {
				text = text[:120] + "…"
			}
			want = append(want, fmt.Sprintf("%d: the phase \"p%d\" names the agent file %q, %s | %s", i+3, i, text, strings.ReplaceAll(a.why, "WHOLE", whole), a.fix))
		}
	}
	for _, f := range report.Findings {
		if f.Rule == "workflow/agent" {
			got = append(got, fmt.Sprintf("%d: %s | %s", f.Line, f.Message, f.Fix))
		}
	}
	if report.Failure != nil {
		t.Errorf("%s: %v", name, report.Failure)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
