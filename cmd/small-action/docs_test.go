//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/action"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// sectionOf is the text of a page below a heading, up to the next one.
func sectionOf(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/%s has no heading %q", page, heading)
	}
	if next := regexp.MustCompile(`(?m)^##+ `).FindStringIndex(below); next != nil {
		below = below[:next[0]]
	}
	return below
}

// block is the one block of a language in a text.
func block(t *testing.T, text, language string) string {
	t.Helper()
	all := blocks(text, language)
	if len(all) != 1 {
		t.Fatalf("there are %d blocks of %s in:\n%s", len(all), language, text)
	}
	return all[0]
}

func blocks(text, language string) []string {
	var all []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// clones are what a CI system would check out: a branch that appends to the log, one that edits it, and the default branch.
type clones struct{ origin, good, bad, trunk *gittest.Repo }

func (c *clones) each() map[string]*gittest.Repo {
	return map[string]*gittest.Repo{"good": c.good, "bad": c.bad, "main": c.trunk}
}

func makeClones(t *testing.T) *clones {
	t.Helper()
	origin := gittest.New(t)
	if err := os.CopyFS(origin.Dir, os.DirFS("../small-hook/testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	origin.Commit("start")
	text, err := os.ReadFile(origin.Path(log))
	if err != nil {
		t.Fatal(err)
	}
	entry := "  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T09:10:00.000000001Z\"\n    status: \"completed\"\n    evidence: \"reader drafted\"\n"
	origin.Git("checkout", "-q", "-b", "good")
	origin.CommitFile(log, string(text)+entry)
	origin.Git("checkout", "-q", "-b", "bad", "main")
	origin.CommitFile(log, strings.Replace(string(text), "workspace created", "tidied", 1))
	origin.CommitFile(log, string(text))
	origin.Git("checkout", "-q", "main")
	c := &clones{origin: origin}
	for branch, at := range map[string]**gittest.Repo{"good": &c.good, "bad": &c.bad, "main": &c.trunk} {
		*at = origin.Clone()
		(*at).Git("checkout", "-q", "--detach", "origin/"+branch)
	}
	return c
}

// runs executes a page's lines in a clone and demands the exit status.
func runs(t *testing.T, want int, r *gittest.Repo, lines string, env ...string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", lines)
	cmd.Dir, cmd.Env = r.Dir, append(r.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%q: exit status %d, not %d\n%s", env, got, want, out)
	}
}

// TestForgejoRecipe runs the workflow's command as Forgejo and Gitea would:
// GITHUB_SHA is the pull request's head.
func TestForgejoRecipe(t *testing.T) {
	gittest.Long(t)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run  string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block(t, sectionOf(t, "ci.md", "## Forgejo and Gitea"), "yaml")), &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["small-gate"].Steps
	if len(steps) != 2 || steps[0].With["fetch-depth"] != 0 {
		t.Fatalf("%+v", steps)
	}
	c := makeClones(t)
	for name, want := range map[string]int{"good": 0, "bad": 1} {
		r := c.each()[name]
		head, base := r.Git("rev-parse", "HEAD"), r.Git("rev-parse", "origin/main")
		for _, variable := range []string{"FORGEJO_ACTIONS=true", "GITEA_ACTIONS=true"} {
			for event, payload := range map[string]string{
				"pull_request": `{"pull_request": {"number": 7, "head": {"sha": "` + head + `"}, "base": {"ref": "main", "sha": "` + base + `"}}}`,
				"push":         `{"ref": "refs/heads/x", "before": "` + strings.Repeat("0", 40) + `", "after": "` + head + `", "repository": {"default_branch": "main"}}`,
			} {
				file := filepath.Join(t.TempDir(), "event.json")
				if err := os.WriteFile(file, []byte(payload), 0o644); err != nil {
					t.Fatal(err)
				}
				runs(t, want, r, steps[1].Run, variable, "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME="+event, "GITHUB_SHA="+head, "GITHUB_EVENT_PATH="+file)
			}
		}
	}
}

// The page on GitHub, which docs/ci.md links to, has a row for each input and output.
func TestPageListsInputsAndOutputs(t *testing.T) {
	t.Parallel()
	page := sectionOf(t, "github.md", "## Inputs")
	for _, name := range action.InputNames() {
		if !strings.Contains(page, "\n| `"+name+"` ") {
			t.Errorf("docs/github.md does not tell of the input %s", name)
		}
	}
	page = sectionOf(t, "github.md", "## Outputs")
	for _, name := range []string{"verdict", "errors", "warnings", "waived", "commits", "lane", "lane-fits", "reports", "ledgers"} {
		if !strings.Contains(page, "\n| `"+name+"` ") {
			t.Errorf("docs/github.md does not tell of the output %s", name)
		}
	}
}
