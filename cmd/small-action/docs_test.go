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
	"github.com/small-gate/small-gate/internal/gittest"
)

// section is the text of docs/ci.md below a heading, up to the next one.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/ci.md has no heading %q", heading)
	}
	if next := regexp.MustCompile(`(?m)^##+ `).FindStringIndex(below); next != nil {
		below = below[:next[0]]
	}
	return below
}

// block is the one block of a language in a text.
func block(t *testing.T, text, language string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("there are %d blocks of %s in:\n%s", len(blocks), language, text)
	}
	return blocks[0][1]
}

// clones are what a CI system would have checked out: a branch that appends to
// the log, one that edits it, and the default branch.
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

// TestRecipes runs what docs/ci.md tells to write for systems that say nothing
// by themselves, as each of them would.
func TestRecipes(t *testing.T) {
	c := makeClones(t)
	status := map[string]int{"good": 0, "bad": 1, "main": 0}
	for name, r := range c.each() {
		id := r.Git("rev-parse", "HEAD")
		before := r.Git("rev-parse", "origin/main")
		for system, envs := range map[string][][]string{
			"Jenkins": {
				{"CHANGE_TARGET=main", "BRANCH_NAME=PR-7"}, {"BRANCH_NAME=" + name, "GIT_PREVIOUS_COMMIT="},
				{"BRANCH_NAME=" + name, "GIT_PREVIOUS_COMMIT=" + before}, {"BRANCH_NAME=" + name, "GIT_PREVIOUS_COMMIT=" + id},
			},
			"Buildkite": {
				{"BUILDKITE_PULL_REQUEST=7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main", "BUILDKITE_COMMIT=" + id},
				{"BUILDKITE_PULL_REQUEST=false", "BUILDKITE_PULL_REQUEST_BASE_BRANCH=", "BUILDKITE_COMMIT=" + id},
				{"BUILDKITE_PULL_REQUEST=false", "BUILDKITE_COMMIT=HEAD"},
			},
			"CircleCI": {{"CIRCLE_BRANCH=" + name, "CIRCLE_SHA1=" + id}},
		} {
			t.Run(system+"/"+name, func(t *testing.T) {
				lines := block(t, section(t, "### "+system), "sh")
				for _, env := range envs {
					runs(t, status[name], r, lines, env...)
				}
			})
		}
	}
	t.Run("a branch that brings its own policy", func(t *testing.T) {
		c.bad.CommitFile(".small-gate.yml", "version: 1\nmode: observe\n")
		before := c.bad.Git("rev-parse", "HEAD")
		text, err := os.ReadFile(c.bad.Path(log))
		if err != nil {
			t.Fatal(err)
		}
		c.bad.CommitFile(log, strings.Replace(string(text), "workspace created", "tidied", 1))
		for system, env := range map[string][]string{
			"Jenkins":   {"BRANCH_NAME=bad", "GIT_PREVIOUS_COMMIT=" + before},
			"Buildkite": {"BUILDKITE_PULL_REQUEST=false", "BUILDKITE_COMMIT=HEAD"},
			"CircleCI":  {"CIRCLE_BRANCH=bad", "CIRCLE_SHA1=HEAD"},
		} {
			runs(t, 1, c.bad, block(t, section(t, "### "+system), "sh"), env...)
		}
	})
	t.Run("a clone that is kept, and a tag with the target's name", func(t *testing.T) {
		kept := c.origin.Clone()
		kept.Git("checkout", "-q", "--detach", "origin/good")
		c.origin.Git("tag", "origin/main", kept.Git("rev-parse", "HEAD"))
		kept.Git("fetch", "-q", "--tags")
		kept.Git("update-ref", "-d", "refs/remotes/origin/main")
		for _, system := range []string{"Jenkins", "Buildkite"} {
			runs(t, 0, kept, block(t, section(t, "### "+system), "sh"),
				"CHANGE_TARGET=main", "BUILDKITE_PULL_REQUEST=7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main", "BUILDKITE_COMMIT=HEAD")
		}
		if kept.Git("rev-parse", "refs/remotes/origin/main") != c.origin.Git("rev-parse", "refs/heads/main") {
			t.Error("the target was not fetched")
		}
		c.origin.Git("tag", "-d", "origin/main")
	})
	t.Run("an edited default branch", func(t *testing.T) {
		c.origin.Git("merge", "-q", "--ff-only", "bad")
		clone := c.origin.Clone()
		runs(t, 1, clone, block(t, section(t, "### Jenkins"), "sh"), "BRANCH_NAME=main")
		runs(t, 1, clone, block(t, section(t, "### Jenkins"), "sh"), "BRANCH_NAME=main", "GIT_PREVIOUS_COMMIT="+clone.Git("rev-parse", "HEAD~2"))
		runs(t, 1, clone, block(t, section(t, "### Buildkite"), "sh"), "BUILDKITE_COMMIT=HEAD")
		runs(t, 1, clone, block(t, section(t, "### CircleCI"), "sh"), "CIRCLE_BRANCH=main", "CIRCLE_SHA1=HEAD")
	})
}

// The descriptions of the jobs call the lines that were run.
func TestRecipesAreCalled(t *testing.T) {
	t.Parallel()
	for system, language := range map[string]string{"Jenkins": "groovy", "Buildkite": "yaml", "CircleCI": "yaml"} {
		text := section(t, "### "+system)
		job := block(t, text, language)
		if !strings.Contains(job, "sh ci/small-gate.sh") || !strings.Contains(text, "`ci/small-gate.sh`") {
			t.Errorf("%s does not call ci/small-gate.sh:\n%s", system, job)
		}
		var parsed map[string]any
		if language == "yaml" && yaml.Unmarshal([]byte(job), &parsed) != nil {
			t.Errorf("%s: this is not YAML:\n%s", system, job)
		}
	}
}

// TestForgejoRecipe runs the workflow's command as Forgejo and Gitea would:
// GITHUB_SHA is the pull request's head.
func TestForgejoRecipe(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run  string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block(t, section(t, "### Forgejo and Gitea"), "yaml")), &workflow); err != nil {
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

// The page has a row for each input and output that there is.
func TestPageListsInputsAndOutputs(t *testing.T) {
	t.Parallel()
	page := section(t, "## Inputs")
	for _, name := range action.InputNames {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/ci.md does not tell of the input %s", name)
		}
	}
	page = section(t, "## Outputs")
	for _, name := range []string{"verdict", "errors", "warnings", "waived", "commits", "lane", "lane-fits", "reports", "ledgers"} {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/ci.md does not tell of the output %s", name)
		}
	}
}
