//go:build !windows

package ciclients_test

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// gitlabIncludes are the ways in which a project uses the template, with an input and without.
var gitlabIncludes = map[string]string{
	"component": "include:\n  - component: $CI_SERVER_FQDN/$CI_PROJECT_PATH/small-gate@$CI_COMMIT_SHA\n    inputs:\n      fail-level: warning\n",
	"include":   "include:\n  - local: templates/small-gate.yml\n",
}

// newProject is a consumer with the template in it.
func newProject(t *testing.T, include string) *gittest.Repo {
	t.Helper()
	r := newConsumer(t, map[string]string{
		".gitlab-ci.yml":           include,
		"templates/small-gate.yml": readFile(t, filepath.Join(root, "templates", "small-gate.yml")),
	})
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r.Git("update-ref", "refs/remotes/origin/main", "main")
	return r
}

// pipeline runs a project's pipeline. The variables are those of GitLab that gitlab-ci-local does not set.
func pipeline(t *testing.T, r *gittest.Repo, variables map[string]string, args ...string) (said string, status int) {
	t.Helper()
	variables = maps.Clone(variables)
	variables["GITLAB_CI"] = "true"
	args = append([]string{"--ignore-predefined-vars", strings.Join(slices.Collect(maps.Keys(variables)), ",")}, args...)
	for name, value := range variables {
		args = append(args, "--variable", name+"="+value)
	}
	env := []string{"PATH=" + built(t).program + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	stdout, stderr, status := run(t, r, env, installed(t, "gitlab-ci-local"), args...)
	return stdout + stderr, status
}

// expectReports demands that the job's reports were collected, and show what was found.
func expectReports(t *testing.T, r *gittest.Repo, folder string, honest bool) {
	t.Helper()
	dir := r.Path(".gitlab-ci-local/artifacts/small-gate/" + folder)
	var issues []struct {
		CheckName string `json:"check_name"`
		Location  struct{ Path string }
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "codequality.json"))), &issues); err != nil {
		t.Error(err)
	}
	var suites struct {
		Suites []struct {
			Cases []struct {
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, filepath.Join(dir, "junit.xml"))), &suites); err != nil {
		t.Error(err)
	}
	cases, failures := 0, 0
	for _, suite := range suites.Suites {
		for _, c := range suite.Cases {
			if cases++; c.Failure != nil {
				failures++
			}
		}
	}
	var sarif struct {
		Runs []struct {
			Results []struct {
				Rule string `json:"ruleId"`
			}
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "small-gate.sarif"))), &sarif); err != nil || len(sarif.Runs) != 1 {
		t.Fatalf("%d runs in SARIF: %v", len(sarif.Runs), err)
	}
	results := sarif.Runs[0].Results
	page := readFile(t, filepath.Join(dir, "small-gate.html"))
	if !strings.HasPrefix(page, "<!DOCTYPE html>") && !strings.HasPrefix(page, "<!doctype html>") {
		t.Errorf("the page begins with %.40q", page)
	}
	if honest {
		if len(issues) != 0 || cases == 0 || failures != 0 || len(results) != 0 {
			t.Errorf("issues %v, %d cases, %d failures, SARIF %v", issues, cases, failures, results)
		}
		return
	}
	if len(issues) != 1 || issues[0].CheckName != "append-only/modified" || issues[0].Location.Path != progress {
		t.Errorf("issues: %v", issues)
	}
	if failures != 1 || len(results) != 1 || results[0].Rule != "append-only/modified" {
		t.Errorf("%d failures; SARIF %v", failures, results)
	}
}

// TestGitLab runs the template as a component and included, in the pipelines of a merge request and of a branch.
func TestGitLab(t *testing.T) {
	installed(t, "gitlab-ci-local")
	for name, include := range gitlabIncludes {
		for what, honest := range map[string]bool{"passing": true, "failing": false} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				r := newProject(t, include)
				before := r.ID("main")
				change(t, r, honest)
				variables := map[string]string{
					"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": "detached",
					"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": before,
				}
				if name == "include" {
					variables = map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": before}
				}
				said, status := pipeline(t, r, variables, "--force-shell-executor", "--shell-isolation", "small-gate")
				if (status == 0) != honest || !strings.Contains(said, "judged:          1 commit") {
					t.Errorf("exit status %d\n%s", status, said)
				}
				expectReports(t, r, "small-gate-reports", honest)
			})
		}
	}
}

// TestGitLabFork runs a merge request's pipeline in a fork whose own main already has the change, with reports in a folder that does not
// exist.
func TestGitLabFork(t *testing.T) {
	installed(t, "gitlab-ci-local")
	t.Parallel()
	r := newProject(t, gitlabIncludes["include"]+"    inputs:\n      reports: out/of/a/fork\n")
	before := r.ID("main")
	change(t, r, false)
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	said, status := pipeline(t, r, map[string]string{
		"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": "detached",
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": before, "CI_MERGE_REQUEST_PROJECT_PATH": "upstream/project",
	}, "--force-shell-executor", "--shell-isolation", "small-gate")
	if status == 0 || !strings.Contains(said, "and not upstream/project") || !strings.Contains(said, "judged:          1 commit") {
		t.Errorf("exit status %d\n%s", status, said)
	}
	expectReports(t, r, "out/of/a/fork", false)
}

// TestGitLabInputs gives the template its inputs, and demands that invalid ones are refused.
func TestGitLabInputs(t *testing.T) {
	installed(t, "gitlab-ci-local")
	local := gitlabIncludes["include"] + "    inputs:\n"
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		r := newProject(t, "stages: [first]\n"+local+"      job-name: gate\n      stage: first\n      image: registry.example.com/gate:1\n      strict: true\n"+
			"      base: refs/remotes/origin/main\n      head: topic\n      workspace: root\n      config: ci/gate.yml\n      fail-level: warning\n      reader: git\n      reports: out/gate\n      allow-failure: true\n")
		r.CommitFile("ci/gate.yml", "version: 1\nrules: {append-only/modified: warning}\n")
		r.Git("update-ref", "refs/remotes/origin/main", "main")
		change(t, r, false)
		said, status := pipeline(t, r, map[string]string{"CI_PIPELINE_SOURCE": "push"}, "--force-shell-executor", "--shell-isolation", "gate")
		for _, want := range []string{"topic against refs/remotes/origin/main", "warning [append-only/modified]"} {
			if !strings.Contains(said, want) {
				t.Errorf("the log does not say %q", want)
			}
		}
		if status != 0 { // the failure is allowed
			t.Errorf("exit status %d", status)
		}
		if text := readFile(t, r.Path(".gitlab-ci-local/artifacts/gate/out/gate/small-gate.sarif")); !strings.Contains(text, "append-only/modified") {
			t.Error("the report is not where the input says")
		}
		if t.Failed() {
			t.Log(said)
		}
	})
	for name, input := range map[string]string{"reader": "fast", "fail-level": "never", "workspace": "every", "strict": "perhaps"} {
		t.Run(name+": "+input, func(t *testing.T) {
			t.Parallel()
			r := newProject(t, local+"      "+name+": "+input+"\n")
			if said, status := pipeline(t, r, map[string]string{"CI_PIPELINE_SOURCE": "push"}, "--list"); status == 0 || !strings.Contains(said, name) {
				t.Errorf("exit status %d\n%s", status, said)
			}
		})
	}
}

// TestGitLabInterruptible demands that the next pipeline cancels any pipeline except one of the default branch.
func TestGitLabInterruptible(t *testing.T) {
	_, text, found := strings.Cut(readFile(t, filepath.Join(root, "templates", "small-gate.yml")), "\n---\n")
	var jobs map[string]struct {
		Interruptible bool
		Rules         []struct {
			If            string
			Interruptible *bool
		}
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil || !found || len(jobs) != 1 {
		t.Fatalf("%d jobs: %v", len(jobs), err)
	}
	for _, job := range jobs {
		kept := map[string]bool{}
		for _, rule := range job.Rules {
			kept[rule.If] = rule.Interruptible != nil && !*rule.Interruptible
		}
		if want := map[string]bool{
			`$CI_PIPELINE_SOURCE == "merge_request_event"`: false, `$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH`: true, `$CI_COMMIT_BRANCH`: false, `$CI_COMMIT_TAG`: false,
		}; !maps.Equal(kept, want) || !job.Interruptible {
			t.Errorf("interruptible %v, but for %v", job.Interruptible, kept)
		}
	}
}

// TestGitLabMirror includes the component as the page says, from a mirror that has a release's tag and is not in a catalog.
func TestGitLabMirror(t *testing.T) {
	installed(t, "gitlab-ci-local")
	_, section, _ := strings.Cut(readFile(t, filepath.Join(root, "docs", "gitlab.md")), "\n## As a component\n")
	_, include, found := strings.Cut(section, "```yaml\n")
	include, _, _ = strings.Cut(include, "```")
	if !found || !strings.Contains(include, "component:") {
		t.Fatalf("the page has no component: %q", include)
	}
	mirrors := t.TempDir()
	mirror := gittest.New(t)
	mirror.Write("templates/small-gate.yml", readFile(t, filepath.Join(root, "templates", "small-gate.yml")))
	mirror.Commit("a release")
	mirror.Git("tag", "v1.0.0")
	mirror.Git("clone", "-q", "--bare", ".", filepath.Join(mirrors, "mirrors", "small-gate.git"))
	r := newConsumer(t, map[string]string{".gitlab-ci.yml": include})
	r.Git("update-ref", "refs/remotes/origin/main", "main")
	before := r.ID("main")
	change(t, r, false)
	server := r.With("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+mirrors+"/.insteadOf", "GIT_CONFIG_VALUE_0=ssh://git@gitlab.example.com:22/")
	said, status := pipeline(t, server, map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": before}, "--force-shell-executor", "--shell-isolation", "small-gate")
	if status == 0 || !strings.Contains(said, "error [append-only/modified]") {
		t.Errorf("exit status %d\n%s", status, said)
	}
}
