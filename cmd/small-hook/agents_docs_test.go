package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```\n")
	textBlock  = regexp.MustCompile("(?s)```text\n(.*?)```\n")
	saidStatus = regexp.MustCompile(` # exit status (\d+)$`)
)

// TestAgentsPage runs docs/agents.md, block by block.
func TestAgentsPage(t *testing.T) {
	gittest.Long(t)
	r := typeSections(t, "../../docs/agents.md", "testdata/workspace/.small", 3, map[string]string{
		"One after the other: handoff": `git switch -q -c importer
(cd importer; small-hook append --task task-1 --evidence "the importer has a log of its own")
git commit -q -a -m "Importer"
git switch -q -c exporter main
(cd exporter; small-hook append --task task-1 --evidence "and so has the exporter")
git commit -q -a -m "Exporter"
git switch -q main
git merge -q --no-edit importer
git merge -q --no-edit exporter
small-hook audit
git init -q --bare -b main ../handoff.git
git remote add origin ../handoff.git; git push -q -u origin main
git clone -q ../handoff.git ../agent-b; (cd ../agent-b; small-hook install)
git clone -q ../handoff.git ../too-early; (cd ../too-early; small-hook install)
sed -i 's/current_task_id: "task-1"/current_task_id: "task-2"/' .small/handoff.small.yml`,
	}, "git init -q -b main && small-hook install")
	early := shell(t, r, `cd ../too-early
small-hook append --task task-1 --status in_progress --evidence "reading the export"
git commit -q -a -m "Begin too early"
! git push -q
git fetch -q; small-hook merge-check origin/main HEAD; echo "exit status $?"
small-hook sync`)
	for _, words := range []string{"divergence/concurrent-append", "divergence/double-claim", "exit status 1"} {
		if !strings.Contains(early, words) {
			t.Errorf("who begins without the handoff does not read %s:\n%s", words, early)
		}
	}
	for part, entry := range map[string]string{"importer": "the importer has", "exporter": "so has the exporter"} {
		if log := r.Git("show", "main:"+part+"/.small/progress.small.yml"); !strings.Contains(log, entry) {
			t.Errorf("%s is not merged:\n%s", part, log)
		}
	}
}

// TestSyncPage runs docs/sync.md: the work of both clones has arrived, without a merge.
func TestSyncPage(t *testing.T) {
	gittest.Long(t)
	r := typePage(t, "../../docs/sync.md", "testdata/workspace/.small", 2,
		"git init -q -b main && small-hook install && git add -A && git commit -q -m Start",
		"git init -q --bare -b main ../origin.git && git remote add origin ../origin.git && git push -q -u origin main",
		"git clone -q ../origin.git ../second && (cd ../second && small-hook install)")
	shell(t, r, "small-hook sync && small-hook audit")
	log := r.Git("show", "origin/main:.small/progress.small.yml")
	for _, entry := range []string{"1204 rows", "are written"} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("%q stands %d times in the log:\n%s", entry, strings.Count(log, entry), log)
		}
	}
	if merges := r.Git("log", "--merges", "--format=%s", "origin/main"); merges != "" {
		t.Errorf("the page has merged: %s", merges)
	}
}

// TestAgentsSnippet demands that the commands and flags in the AGENTS.md snippet of docs/agents.md exist.
func TestAgentsSnippet(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, snippet, _ := strings.Cut(string(page), "\n```markdown\n")
	snippet, _, _ = strings.Cut(snippet, "\n```\n")
	r := gittest.New(t)
	var names []string
	for _, m := range backticks.FindAllStringSubmatch(snippet, -1) {
		words := strings.Fields(m[1])
		if words[0] != "small-hook" {
			continue
		}
		names = append(names, words[1])
		help := shell(t, r, "small-hook "+words[1]+" --help")
		for _, word := range words[2:] {
			if word == "--" {
				break // another program's
			}
			if strings.HasPrefix(word, "--") && !strings.Contains(help, " "+word+" ") {
				t.Errorf("small-hook %s has no %s:\n%s", words[1], word, help)
			}
		}
	}
	if want := []string{"append", "guard", "guard", "restore", "sync", "replay-id"}; !slices.Equal(names, want) {
		t.Errorf("the snippet names %q, not %q", names, want)
	}
}

// TestSkill runs skills/small-gate/SKILL.md after a rejected commit, while others publish.
func TestSkill(t *testing.T) {
	gittest.Long(t)
	const name = "../../skills/small-gate/SKILL.md"
	r := typePage(t, name, "testdata/workspace/.small", 7,
		`git init -q -b main && printf '#!/bin/sh\n' >record.sh && chmod +x record.sh && git add -A && git commit -q -m Start && small-hook install`,
		"git init -q --bare -b main ../origin.git && git remote add origin ../origin.git && git push -q -u origin main",
		"small-hook append --task task-1 --evidence 'importer reads 1204 rows' && git commit -q -a -m Read && git push -q",
		"git clone -q ../origin.git ../second && cd ../second && git switch -q -c agent-2",
		"small-hook append --task task-2 --evidence 'checkpoints are written' && git commit -q -a -m Checkpoints && git push -q origin agent-2",
		"git switch -q main && echo more >code && git add code && git commit -q -m More && git push -q && cd -",
		"sed -i 's/1204 rows/1205 rows/' .small/progress.small.yml && { git commit -q -a -m 'Correct the count'; test $? = 1; }")
	log := r.Git("show", "origin/main:.small/progress.small.yml")
	for _, entry := range []string{"importer reads 1204 rows", "correction: the", "40 tests pass", "checkpoints are written"} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("%q stands %d times in the log:\n%s", entry, strings.Count(log, entry), log)
		}
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(page))); n > 600 || !strings.HasPrefix(string(page), "---\nname: small-gate\ndescription: ") {
		t.Errorf("%s has %d words and begins %.40q", name, n, page)
	}
}

// typePage runs a page's blocks of commands in a new directory, with a copy of a workspace if one is named, and returns it as a repository.
// The page must have at least that many blocks. Commands that the page takes for granted run first.
func typePage(t *testing.T, name, workspace string, least int, before ...string) *gittest.Repo {
	t.Helper()
	return typeSections(t, name, workspace, least, nil, before...)
}

// typeSections is typePage with what happens before a reader types the commands of a section, by its heading.
func typeSections(t *testing.T, name, workspace string, least int, happens map[string]string, before ...string) *gittest.Repo {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatchIndex(string(page), -1)
	outputs := strings.Count(string(page), "\n```text\n") + strings.Count(string(page), "\n```markdown\n") + strings.Count(string(page), "\n```yaml\n")
	if fences := strings.Count(string(page), "\n```"); fences != 2*(len(blocks)+outputs) || len(blocks) < least {
		t.Fatalf("%d blocks and %d fences", len(blocks), fences)
	}
	r := gittest.New(t, gittest.At(t.TempDir()+"/repo"))
	r.Remove(".git")
	if workspace != "" {
		if err := os.CopyFS(r.Path(".small"), os.DirFS(workspace)); err != nil {
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for _, command := range before {
		fmt.Fprintf(&script, "%s || exit 1\n", command)
	}
	begun := map[string]bool{}
	for _, block := range blocks {
		heading := string(page[:block[0]])
		heading, _, _ = strings.Cut(heading[strings.LastIndex(heading, "\n## ")+1:], "\n")
		heading = strings.TrimPrefix(heading, "## ")
		if !begun[heading] {
			fmt.Fprintf(&script, "( set -e\n%s\n) || { echo \"what happens before %s fails\"; exit 1; }\n", happens[heading], heading)
		}
		begun[heading] = true
		for _, statement := range statements(string(page[block[2]:block[3]])) {
			want := "0"
			if m := saidStatus.FindStringSubmatch(statement); m != nil {
				want = m[1]
			}
			fmt.Fprintf(&script, "%s\nstatus=$?; test $status = %s || { echo \"exit status $status, not %s\"; exit 1; }\n", statement, want, want)
		}
	}
	for heading := range happens {
		if !begun[heading] {
			t.Errorf("%s has no commands below %q", name, heading)
		}
	}
	cmd := exec.Command("sh", "-x", "-c", script.String())
	cmd.Dir, cmd.Env = r.Dir, r.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	for _, block := range textBlock.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(string(out), block[1]) {
			t.Errorf("the page shows what no command has printed:\n%s\nThey printed:\n%s", block[1], out)
		}
	}
	return r
}

// statements cuts a block into commands with one status each: a line, the lines indented below it and the brace that closes them.
func statements(block string) []string {
	var out []string
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if n := len(out); n > 0 && (strings.HasPrefix(line, " ") || line == "}") {
			out[n-1] += "\n" + line
		} else {
			out = append(out, line)
		}
	}
	return out
}
