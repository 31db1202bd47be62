package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	backticks  = regexp.MustCompile("`([^`]+)`")
	ruleNamed  = regexp.MustCompile(`(?:error|warning) \[([a-z/-]+)\]`)
	subcommand = regexp.MustCompile(`(?m)^  ([a-z]+) `)
)

// situations are what a row of docs/small.md says after its commands, and the commands that bring it about before them.
var situations = map[string]string{
	"in an empty repository":          "git rm -q -r --cached . && rm -rf .small .small-gate.yml AGENTS.md && git -c core.hooksPath=/dev/null commit -q --allow-empty -m 'Nothing'; git update-ref -d HEAD",
	"while another agent has a lease": `sed -i '/id: task-2$/a\      lease: {agent_id: agent-2, expires: "2099-01-01T00:00:00Z"}' .small/plan.small.yml && git commit -q -a -m Lease`,
	"in a log with whole seconds":     `sed -i 's/\(timestamp: ".*\)\.[0-9]*Z"/\1Z"/' .small/progress.small.yml && git -c core.hooksPath=/dev/null commit -q -a -m 'Whole seconds'`,
	"with an id of your own":          "",
	"by an agent":                     "",
	"of a run with fewer entries":     "small run snapshot && small progress add --task task-2 --status completed --evidence more && git commit -q -a -m More",
	"with another intent":             "sed s/importer/exporter/ .small/intent.small.yml > intent",
}

// TestSmallCommandsPage types every row of docs/small.md with the protocol's own program and real hooks.
func TestSmallCommandsPage(t *testing.T) {
	gittest.Long(t)
	bin := referenceBin(t)
	page, err := os.ReadFile("../../docs/small.md")
	if err != nil {
		t.Fatal(err)
	}
	base := gittest.New(t).With("PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"))
	shell(t, base, "small init --intent 'a resumable importer' && small-hook install && small plan --add 'Read the export' && small start && "+
		"small checkpoint --task task-2 --status completed --evidence 'reads 1204 rows' && small handoff && git add -A && git commit -q -m Start")
	rows := 0
	table, _, _ := strings.Cut(after(string(page), "## After each command\n"), "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if !strings.HasPrefix(line, "| `") || len(cells) != 4 {
			continue
		}
		rows++
		if strings.TrimSpace(cells[2]) == "the same" {
			cells[2] = cells[1]
		}
		for i, mode := range []string{"plain", "strict"} {
			t.Run(strings.TrimSpace(cells[0])+" "+mode, func(t *testing.T) {
				t.Parallel()
				typeRow(t, base.Copy(t), cells[0], strings.TrimSpace(cells[1+i]), cells[3], mode == "strict")
			})
		}
	}
	if rows < 22 {
		t.Errorf("the page has %d rows", rows)
	}
	for _, m := range subcommand.FindAllStringSubmatch(after(shell(t, base, "small --help"), "Available Commands:"), -1) {
		if !strings.Contains(table, "`small "+m[1]) {
			t.Errorf("the page does not say what the gate says to small %s", m[1])
		}
	}
}

func typeRow(t *testing.T, r *gittest.Repo, row, verdict, then string, strict bool) {
	if strict {
		r.Write(".small-gate.yml", "version: 1\nstrict: true\n")
		shell(t, r, "git add -A && git -c core.hooksPath=/dev/null commit -q -m Strict")
	}
	situation := strings.TrimSpace(row[strings.LastIndex(row, "`")+1:])
	if strings.Contains(situation, "agent") {
		r = r.With("SMALL_AGENT_ID=agent-1")
	}
	if situation != "" {
		before, known := situations[situation]
		if !known {
			t.Fatalf("there is no situation %q", situation)
		}
		if strict && situation == "in an empty repository" {
			before += "; printf 'version: 1\\nstrict: true\\n' > .small-gate.yml; git add -A; git commit -q -m Strict"
		}
		shell(t, r, before)
	}
	id := regexp.MustCompile(`[0-9a-f]{64}`).FindString(shell(t, r, "cat .small/handoff.small.yml || true"))
	if situation == "with an id of your own" {
		id = strings.Repeat("4a", 32)
	}
	for _, command := range backticks.FindAllStringSubmatch(row, -1) {
		shell(t, r, strings.ReplaceAll(command[1], " ID", " "+id))
	}
	said, failed := commitAll(r)
	word, want, _ := strings.Cut(verdict, ": ")
	if got := strings.Join(said, ", "); got != want || failed != (word == "rejected") || (word == "passes") != (want == "") {
		t.Fatalf("the commit failed: %v, and the gate named %q; the page says %q", failed, got, verdict)
	}
	if strings.Contains(then, "write the new intent") {
		shell(t, r, "sed -i 's/Define project intent/an exporter/' .small/intent.small.yml")
	}
	for _, command := range backticks.FindAllStringSubmatch(then, -1) {
		shell(t, r, command[1])
	}
	if said, failed := commitAll(r); failed || len(said) > 0 && !slices.Equal(said, []string{"config/changed"}) {
		t.Errorf("after %s the commit failed: %v, and the gate named %q", then, failed, said)
	}
	shell(t, r, "small check --strict && small-hook check --strict && git diff --quiet HEAD")
}

// commitAll commits everything, and returns the rules that the gate named, each once, in order.
func commitAll(r *gittest.Repo) (rules []string, failed bool) {
	cmd := exec.Command("sh", "-c", "git add -A && git commit -q --allow-empty -m Work")
	cmd.Dir, cmd.Env = r.Dir, r.Environ()
	out, err := cmd.CombinedOutput()
	for _, m := range ruleNamed.FindAllSubmatch(out, -1) {
		rules = append(rules, string(m[1]))
	}
	slices.Sort(rules)
	return slices.Compact(rules), err != nil
}

func after(text, part string) string {
	_, rest, _ := strings.Cut(text, part)
	return rest
}

// shell runs a command that must succeed, and returns what it prints.
func shell(t testing.TB, r *gittest.Repo, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = r.Dir, r.Environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out.String())
	}
	return out.String()
}
