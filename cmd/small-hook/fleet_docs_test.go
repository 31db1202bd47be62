//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// fleet is ten repositories on a server, and a folder in which the commands of docs/fleet.md are run.
type fleet struct {
	t      *testing.T
	page   string
	dir    string
	env    []string
	team   *gittest.Repo // a clone of one of them
	system string        // in place of /etc
}

// The logs of the first repositories were rewritten.
const (
	fleetSize   = 10
	fleetEdited = 3
)

// fleetStubs replace real programs in a test. gh writes down what it is given.
var fleetStubs = map[string]string{
	"npm": "#!/bin/sh\ntest \"$*\" = 'install --global small-gate@1.0.0'\n",
	"gh": `#!/usr/bin/env bash
case "$*" in
  'api repos/acme/policies --jq .id') echo 4711 ;;
  'api --method POST orgs/acme/rulesets --input -') cat >ruleset.sent ;;
  'auth setup-git') ;;
  *'--jq [.[].url]') jq -Rcs 'split("\n")[:-1]' <repositories.txt ;;
  'repo list acme '*'@tsv') printf 'acme/a\tmain\nacme/b\ttrunk\nacme/c\tmain\n' ;;
  'api repos/acme/a/contents/.github/'*) printf 'jobs:\n  small-gate:\n    steps:\n      - uses: small-gate/small-gate@v1.2.3 # pinned\n' ;;
  'api repos/acme/b/contents/.github/'*) printf '    uses: small-gate/small-gate/.github/workflows/gate.yml@v1\n' ;;
  'api repos/acme/b/contents/.small-gate.yml'*) printf 'version: 1\nmode: observe\n' ;;
  'api repos/acme/a/rules/'*) jq "$4" <<<'[{"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "build"}, {"context": "small-gate"}]}}]' ;;
  'api repos/acme/b/rules/branches/trunk '*) jq "$4" <<<'[{"type": "workflows", "parameters": {}}]' ;;
  'api repos/acme/c/rules/'*) jq "$4" <<<'[{"type": "deletion"}]' ;;
  *) echo "gh: ${GH_SAYS:-Not Found (HTTP 404)}" >&2; exit 1 ;;
esac
`,
	"glab": `#!/usr/bin/env bash
case "$*" in
  *groups/acme/projects*) echo '[{"id": 1, "path_with_namespace": "acme/a", "only_allow_merge_if_pipeline_succeeds": true}, {"id": 2, "path_with_namespace": "acme/x/b", "only_allow_merge_if_pipeline_succeeds": false}]' ;;
  'api projects/2/'*) printf 'version: 1\nmode: observe\n' ;;
  *) echo "glab: ${GH_SAYS:-404 File Not Found (HTTP 404)}" >&2; exit 1 ;;
esac
`,
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, page: readPage(t, "../../docs/fleet.md"), dir: t.TempDir(), team: gittest.New(t), system: t.TempDir()}
	stubs := t.TempDir()
	for name, text := range fleetStubs {
		if err := gittest.WriteProgram(filepath.Join(stubs, name), text); err != nil {
			t.Fatal(err)
		}
	}
	f.env = append(f.team.Environ(), "PATH="+stubs+":"+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM="+filepath.Join(f.system, "gitconfig"))
	if err := os.CopyFS(f.team.Dir, os.DirFS("testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	f.team.Commit("start")
	const log = ".small/progress.small.yml"
	var addresses []string
	for i := range fleetSize {
		f.team.Branch(fmt.Sprint("repo-", i), "main")
		f.team.Switch(fmt.Sprint("repo-", i))
		if i < fleetEdited {
			f.team.CommitFile(log, strings.Replace(readPage(t, f.team.Path(log)), "workspace created", fmt.Sprint("workspace made ", i), 1))
		}
		server := filepath.Join(f.system, fmt.Sprintf("repo-%d.git", i))
		f.team.Git("init", "-q", "--bare", "-b", "main", server)
		f.team.In(server).Git("config", "uploadpack.allowFilter", "true")
		f.team.In(server).Git("config", "uploadpack.allowAnySHA1InWant", "true")
		f.team.Git("push", "-q", server, "HEAD:main")
		addresses = append(addresses, "file://"+server)
	}
	f.write("repositories.txt", strings.Join(addresses, "\n")+"\n")
	return f
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// blocks are the blocks of a section in a language.
func (f *fleet) blocks(heading, language string) []string {
	f.t.Helper()
	_, section, found := strings.Cut(f.page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var all []string
	for _, part := range strings.Split(section, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```\n")
		all = append(all, strings.ReplaceAll(block, "/etc/small-gate", filepath.Join(f.system, "small-gate")))
	}
	if !found || len(all) == 0 {
		f.t.Fatalf("the page has no %s under %s", language, heading)
	}
	return all
}

// linked is a file that the page links.
func (f *fleet) linked(name string) string {
	f.t.Helper()
	if !strings.Contains(f.page, "(fleet/"+name+")") {
		f.t.Errorf("the page does not link %s", name)
	}
	return readPage(f.t, "../../docs/fleet/"+name)
}

// saves puts programs that the page links into the folder.
func (f *fleet) saves(names ...string) {
	f.t.Helper()
	for _, name := range names {
		if err := gittest.WriteProgram(filepath.Join(f.dir, name), f.linked(name)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// types runs lines, and returns their standard output.
func (f *fleet) types(lines string, status int, env ...string) string {
	f.t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", lines)
	var errs strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = f.dir, append(slices.Clone(f.env), env...), &errs
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		f.t.Fatalf("%s\n%v, not %d\n%s%s", lines, err, status, out, errs.String())
	}
	return string(out) + errs.String()
}

// TestFleetPage runs docs/fleet.md on ten repositories: the floor, the server's hook, the audit of all, by hand and as the weekly workflow,
// and the questions with stubs for gh and glab. TestFleetTable has the questions for DuckDB.
func TestFleetPage(t *testing.T) {
	gittest.Long(t)
	if words := len(strings.Fields(readPage(t, "../../docs/fleet.md"))); words > 1500 {
		t.Errorf("the page has %d words", words)
	}
	f := newFleet(t)
	f.saves("audit-one", "state-github", "state-gitlab")
	f.types(f.blocks("The floor", "sh")[0], 0)
	f.servers()
	f.audited()

	f.write("ruleset.json", f.blocks("GitHub", "json")[0])
	f.types(f.blocks("GitHub", "sh")[0], 0)
	if sent := readPage(t, filepath.Join(f.dir, "ruleset.sent")); !strings.Contains(sent, `"repository_id": 4711`) || !json.Valid([]byte(sent)) {
		t.Errorf("the ruleset that is sent: %s", sent)
	}
	f.floors()

	state := strings.SplitAfter(f.blocks("Who has it", "sh")[0], "\n")[:2]
	if got, want := f.types(state[0], 0), "acme/a\tv1.2.3\ttrue\tenforce\nacme/b\tv1\ttrue\tobserve\nacme/c\tnone\tfalse\tenforce\n"; got != want {
		t.Errorf("GitHub: %q, not %q", got, want)
	}
	if got, want := f.types(state[1], 0), "acme/a\ttrue\tenforce\nacme/x/b\tfalse\tobserve\n"; got != want {
		t.Errorf("GitLab: %q, not %q", got, want)
	}
	for _, block := range state {
		if said := f.types(block, 1, "GH_SAYS=Bad gateway (HTTP 502)"); !strings.Contains(said, "502") {
			t.Errorf("what cannot be asked: %s", said)
		}
	}
}

// servers installs the hook for all, and pushes a rewrite that the repository's own configuration would let through.
func (f *fleet) servers() {
	f.t.Helper()
	f.types(f.blocks("Servers of your own", "sh")[0], 0)
	push := func(branch string) error {
		_, err := f.team.With(f.env...).Try("push", "-q", filepath.Join(f.system, "repo-9.git"), "HEAD:"+branch)
		return err
	}
	f.team.CommitFile(".small-gate.yml", "version: 1\nmode: observe\nrules: {append-only/modified: \"off\"}\n")
	if err := push("main"); err != nil {
		f.t.Fatalf("an honest push: %v", err)
	}
	before := f.team.ID("HEAD")
	const log = ".small/progress.small.yml"
	f.team.CommitFile(log, strings.Replace(readPage(f.t, f.team.Path(log)), "workspace created", "workspace forged", 1))
	if err := push("main"); err == nil || !strings.Contains(err.Error(), "GL-HOOK-ERR: .small/progress.small.yml:7:5: error [append-only/modified]") {
		f.t.Errorf("a rewrite: %v", err)
	}
	f.team.Git("reset", "-q", "--hard", before)
}

// audited audits all, as typed and as the weekly workflow does, and demands a report of each repository.
func (f *fleet) audited() {
	f.t.Helper()
	audit := f.blocks("Audit all", "sh")
	for _, block := range audit {
		f.types(block, 0)
	}
	reports := func() string {
		files, err := filepath.Glob(filepath.Join(f.dir, "reports", "*.jsonl"))
		if err != nil {
			f.t.Fatal(err)
		}
		var text strings.Builder
		for _, file := range files {
			text.WriteString(readPage(f.t, file))
		}
		return text.String()
	}
	said := reports()
	if n := strings.Count(said, `"kind":"report"`); n != fleetSize {
		f.t.Fatalf("%d reports of %d repositories", n, fleetSize)
	}
	if n := strings.Count(said, `"rule":"append-only/modified"`); n != fleetEdited || strings.Count(said, `"verdict":"pass"`) != fleetSize-fleetEdited {
		f.t.Errorf("%d rewrites: %s", n, said)
	}

	// A missing repository, and one that cannot be judged, have an exit status other than 0; the second has a report.
	addresses := readPage(f.t, filepath.Join(f.dir, "repositories.txt"))
	broken := filepath.Join(f.system, "broken.git")
	f.team.Git("init", "-q", "--bare", "-b", "main", broken)
	f.team.Git("push", "-q", broken, "HEAD:trunk")
	f.write("repositories.txt", "file://"+broken+"\nfile://"+f.system+"/none.git\n")
	f.types(audit[len(audit)-1], 123)
	if !strings.Contains(reports(), `"verdict":"error"`) {
		f.t.Error("a repository that cannot be judged has no report")
	}
	f.write("repositories.txt", addresses)

	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if err := yaml.Unmarshal([]byte(f.linked("audit-all.yml")), &workflow); err != nil {
		f.t.Fatal(err)
	}
	f.types("rm -rf reports clones; : >output", 0)
	f.types(workflow.Jobs["list"].Steps[0].Run, 0, "GITHUB_OUTPUT=output")
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimPrefix(readPage(f.t, filepath.Join(f.dir, "output")), "parts=")), &parts); err != nil || len(parts) != 1 {
		f.t.Fatalf("%d parts: %v", len(parts), err)
	}
	f.types(workflow.Jobs["audit"].Steps[1].Run, 0, "PART="+string(parts[0]))
	if again := reports(); strings.Count(again, "\n") != strings.Count(said, "\n") {
		f.t.Errorf("the workflow's reports: %s", again)
	}
}

// floors demands that the program accepts the floors in the workflows, and that the page's YAML can be parsed.
func (f *fleet) floors() {
	f.t.Helper()
	for _, heading := range []string{"GitHub", "GitLab"} {
		for _, block := range f.blocks(heading, "yaml") {
			var any map[string]any
			if err := yaml.Unmarshal([]byte(block), &any); err != nil {
				f.t.Errorf("%s: %v", heading, err)
			}
		}
	}
	indent := regexp.MustCompile(`(?m)^ +`)
	for _, heading := range []string{"GitHub", "GitLab"} {
		text := strings.Join(f.blocks(heading, "yaml"), "")
		_, text, _ = strings.Cut(text, "floor: |\n")
		text, _, _ = strings.Cut(text, "      - uses: actions/upload-artifact")
		f.write("text.yml", indent.ReplaceAllString(text, ""))
		f.types("git clone -q '"+filepath.Join(f.system, "repo-0.git")+"' '"+heading+"'", 0)
		if said := f.types("small-hook -C "+heading+" audit --floor \"$PWD/text.yml\"", 1); !strings.Contains(said, "append-only/modified") {
			f.t.Errorf("%s: %s", heading, said)
		}
	}
}

// TestFleetTable runs the page's queries in the real DuckDB, on reports of ten repositories.
func TestFleetTable(t *testing.T) {
	gittest.Long(t)
	tools := os.Getenv("SMALL_GATE_REPORT_TOOLS")
	if tools == "" {
		t.Skip("LEFT OUT: DuckDB is not here: export SMALL_GATE_REPORT_TOOLS=\"$(scripts/report-setup)\" in the repository's root gets it")
	}
	modules := filepath.Join(tools, "duckdb", "node_modules")
	if _, err := os.Stat(modules); err != nil {
		t.Skip("LEFT OUT: scripts/report-setup could not get DuckDB")
	}
	f := newFleet(t)
	f.saves("audit-one")
	f.types(f.blocks("The floor", "sh")[0], 0)
	for _, block := range f.blocks("Audit all", "sh") {
		f.types(block, 0)
	}
	f.types("mkdir jobs; for i in 0 5; do git clone -q "+f.system+"/repo-$i.git repo-$i; small-hook -C repo-$i audit --format json --output jobs/$i.json || test $? = 1; done", 0)
	f.write("table.sql", f.blocks("The table", "sql")[0])
	const ask = `const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const db = await (await DuckDBInstance.create()).connect();
  for (const query of require("fs").readFileSync("table.sql", "utf8").split(";").slice(0, -1))
    console.log(JSON.stringify((await db.runAndReadAll(query)).getRowsJson()));
})().catch((problem) => { console.error(problem); process.exit(1); });`
	got := strings.Split(f.types("node -e '"+ask+"'", 0, "NODE_PATH="+modules), "\n")
	if len(got) != 4 {
		t.Fatalf("%q", got)
	}
	var worst, weeks, versions [][]any
	for i, rows := range []*[][]any{&worst, &weeks, &versions} {
		if err := json.Unmarshal([]byte(got[i]), rows); err != nil {
			t.Fatalf("%v: %s", err, got[i])
		}
	}
	if len(worst) != fleetSize || fmt.Sprint(worst[fleetEdited-1][1:]) != "[fail 1 0 <nil>]" || fmt.Sprint(worst[fleetEdited][1:]) != "[pass 0 0 <nil>]" {
		t.Errorf("the worst: %v", worst)
	}
	if len(weeks) != 1 || fmt.Sprint(weeks[0][1:]) != fmt.Sprintf("[append-only/modified %d %[1]d]", fleetEdited) {
		t.Errorf("rules by week: %v", weeks)
	}
	if len(versions) != 1 || fmt.Sprint(versions[0][1]) != "2" {
		t.Errorf("versions: %v", versions)
	}
}
