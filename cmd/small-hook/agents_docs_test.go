package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gittest"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```\n")
	textBlock  = regexp.MustCompile("(?s)```text\n(.*?)```\n")
	saidStatus = regexp.MustCompile(` # exit status (\d+)$`)
)

// TestAgentsPage types what docs/agents.md says, block by block.
func TestAgentsPage(t *testing.T) {
	gittest.Long(t)
	r := typePage(t, "../../docs/agents.md", "testdata/workspace/.small", 8)
	if got := r.Git("log", "--merges", "--format=%s"); !strings.Contains(got, "Merge agent-2") {
		t.Errorf("the page has merged something else: %s", got)
	}
}

// TestAgentsSnippet demands that the commands and flags that docs/agents.md puts into an AGENTS.md are there.
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

// typePage runs the blocks of commands of a page in a new directory with a copy
// of a workspace, if one is named, and returns it as a repository. The page has
// at least so many. Before them runs what the page takes for granted.
func typePage(t *testing.T, name, workspace string, least int, before ...string) *gittest.Repo {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(page), -1)
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
	for _, block := range blocks {
		for _, statement := range statements(block[1]) {
			want := "0"
			if m := saidStatus.FindStringSubmatch(statement); m != nil {
				want = m[1]
			}
			fmt.Fprintf(&script, "%s\nstatus=$?; test $status = %s || { echo \"exit status $status, not %s\"; exit 1; }\n", statement, want, want)
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

// statements cuts a block into what is to succeed or fail as one: a line, with
// those that are indented below it and the brace that ends them.
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
