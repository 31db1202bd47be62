//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// recipe is what a section of docs/ci-systems.md has a system run: shell commands, and variables.
type recipe struct{ commands, environ []string }

// takeYAML finds the commands and their variables wherever a job's description has them.
func (r *recipe) takeYAML(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			r.takeYAML(item)
		}
	case map[string]any:
		for key, value := range node {
			text, isText := value.(string)
			list, isList := value.([]any)
			variables, isMap := value.(map[string]any)
			switch {
			case (key == "run" || key == "command" || key == "script") && isText:
				r.commands = append(r.commands, strings.ReplaceAll(text, "$$", "$"))
			case (key == "script" || key == "commands") && isList:
				var lines []string
				for _, line := range list {
					lines = append(lines, line.(string))
				}
				r.commands = append(r.commands, strings.Join(lines, " && "))
			case (key == "environment" || key == "variables") && isMap:
				for name, value := range variables {
					r.environ = append(r.environ, name+"="+value.(string))
				}
			default:
				r.takeYAML(value)
			}
		}
	}
}

// recipes are those of a system's section.
func recipes(t *testing.T, system string) []recipe {
	t.Helper()
	text := sectionOf(t, "ci-systems.md", "## "+system)
	if !regexp.MustCompile(`\(\[\w+'s? page\]\(https://`).MatchString(text) {
		t.Errorf("%s: the variables' documentation is not named", system)
	}
	var all []recipe
	for _, job := range blocks(text, "groovy") {
		var r recipe
		for _, match := range regexp.MustCompile(`\bsh '(.*?)'`).FindAllStringSubmatch(job, -1) {
			r.commands = append(r.commands, match[1])
		}
		for _, match := range regexp.MustCompile(`environment \{ (\w+) = '(.*?)' \}`).FindAllStringSubmatch(job, -1) {
			r.environ = append(r.environ, match[1]+"="+match[2])
		}
		all = append(all, r)
	}
	for _, job := range blocks(text, "yaml") {
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(job), &parsed); err != nil {
			t.Fatalf("%s: %v:\n%s", system, err, job)
		}
		// What an anchor names runs once.
		delete(parsed, "pipelines")
		var r recipe
		r.takeYAML(parsed)
		all = append(all, r)
	}
	for _, r := range all {
		if len(r.commands) != 1 {
			t.Errorf("%s runs %q", system, r.commands)
		}
	}
	if len(all) == 0 {
		t.Errorf("%s has no recipe", system)
	}
	return all
}

// TestSystemRecipes runs the recipes of docs/ci-systems.md with the variables of each system: a pull request, a branch, and the default
// branch. A local server has the release that they fetch.
func TestSystemRecipes(t *testing.T) {
	gittest.Long(t)
	script := releaseScript(t)
	c := makeClones(t)
	status := map[string]int{"good": 0, "bad": 1, "main": 0}
	for name, clone := range c.each() {
		id := clone.Git("rev-parse", "HEAD")
		clone.Write("ci/small-gate.sh", script)
		clone.Write("bin/buildkite-agent", "#!/bin/sh\nexec cat >annotation.md\n")
		if err := os.Chmod(clone.Path("bin/buildkite-agent"), 0o755); err != nil {
			t.Fatal(err)
		}
		for system, envs := range map[string][][]string{
			"Jenkins": {
				{"BUILD_TAG=jenkins-x-1", "CHANGE_ID=7", "CHANGE_TARGET=main", "BRANCH_NAME=PR-7"}, {"BUILD_TAG=jenkins-x-1", "BRANCH_NAME=" + name},
			},
			"Buildkite": {
				{"BUILDKITE=true", "BUILDKITE_PULL_REQUEST=7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main", "BUILDKITE_COMMIT=" + id},
				{"BUILDKITE=true", "BUILDKITE_PULL_REQUEST=false", "BUILDKITE_COMMIT=" + id, "BUILDKITE_BRANCH=" + name, "BUILDKITE_PIPELINE_DEFAULT_BRANCH=main"},
			},
			"CircleCI": {{"CIRCLECI=true", "CIRCLE_BRANCH=" + name, "CIRCLE_SHA1=" + id}},
			"Azure Pipelines": {
				{"TF_BUILD=True", "SYSTEM_PULLREQUEST_PULLREQUESTID=7", "SYSTEM_PULLREQUEST_SOURCECOMMITID=" + id, "SYSTEM_PULLREQUEST_TARGETBRANCH=refs/heads/main"},
				{"TF_BUILD=True", "BUILD_SOURCEVERSION=" + id, "BUILD_SOURCEBRANCH=refs/heads/" + name},
			},
			"Bitbucket Pipelines": {
				{"BITBUCKET_BUILD_NUMBER=1", "BITBUCKET_COMMIT=" + id, "BITBUCKET_PR_ID=7", "BITBUCKET_PR_DESTINATION_BRANCH=main"},
				{"BITBUCKET_BUILD_NUMBER=1", "BITBUCKET_COMMIT=" + id, "BITBUCKET_BRANCH=" + name},
			},
			"Woodpecker": {
				{"CI=woodpecker", "CI_COMMIT_SHA=" + id, "CI_COMMIT_PULL_REQUEST=7", "CI_COMMIT_TARGET_BRANCH=main"},
				{"CI=woodpecker", "CI_COMMIT_SHA=" + id, "CI_COMMIT_BRANCH=" + name, "CI_REPO_DEFAULT_BRANCH=main"},
			},
			"Drone": {
				{"DRONE=true", "DRONE_COMMIT_SHA=" + id, "DRONE_PULL_REQUEST=7", "DRONE_TARGET_BRANCH=main"},
				{"DRONE=true", "DRONE_COMMIT_SHA=" + id, "DRONE_BRANCH=" + name, "DRONE_REPO_BRANCH=main"},
			},
		} {
			for _, r := range recipes(t, system) {
				for _, env := range envs {
					env = append(append(env, r.environ...), "PATH="+clone.Path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
					runs(t, status[name], clone, strings.Join(r.commands, "\n"), env...)
				}
			}
		}
		if text, err := os.ReadFile(clone.Path("annotation.md")); err != nil || !strings.Contains(string(text), "small-gate") {
			t.Errorf("%s: the annotation: %v\n%s", name, err, text)
		}
	}
	t.Run("another program than the one that was written down", func(t *testing.T) {
		c.good.Write("ci/small-gate.sh", regexp.MustCompile(`sha256=\w+`).ReplaceAllString(script, "sha256="+strings.Repeat("0", 64)))
		runs(t, 2, c.good, "sh ci/small-gate.sh", "CIRCLECI=true")
	})
	t.Run("no such release", func(t *testing.T) {
		c.good.Write("ci/small-gate.sh", strings.Replace(script, "version=v1.0.0", "version=v0.0.0", 1))
		runs(t, 2, c.good, "sh ci/small-gate.sh", "CIRCLECI=true")
	})
}

// releaseScript is the page's script that fetches the program, from a release on a local server.
func releaseScript(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"curl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: the recipes for CI systems need %s: %v", tool, err)
		}
	}
	at, err := exec.LookPath("small-action")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "v1.0.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "v1.0.0", "small-action_linux_amd64"), program, 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	text := block(t, sectionOf(t, "ci-systems.md", "## Where the program comes from"), "sh")
	const releases, none = "https://github.com/small-gate/small-gate/releases/download", "sha256=" + "0000000000000000000000000000000000000000000000000000000000000000"
	if !strings.Contains(text, releases) || !strings.Contains(text, none) {
		t.Fatalf("the script has neither address nor checksum to fill in:\n%s", text)
	}
	sum := sha256.Sum256(program)
	return strings.NewReplacer(releases, server.URL, none, "sha256="+hex.EncodeToString(sum[:])).Replace(text)
}

// The recipes name one version of the image and of the program.
func TestSystemRecipesArePinned(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci-systems.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?:ghcr\.io/small-gate/small-gate:|version=)(\S+?)['\s`+"`"+`]`).FindAllStringSubmatch(string(text), -1)
	if len(found) < 6 {
		t.Errorf("%q", found)
	}
	for _, match := range found {
		if match[1] != "v1.0.0" {
			t.Errorf("%q", match[0])
		}
	}
}
