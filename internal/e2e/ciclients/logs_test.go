//go:build !windows

package ciclients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// otherLogs guards a log of lines, a changelog and a folder of migrations.
var otherLogs = map[string]string{
	".small-gate.yml": `version: 1
logs:
  - path: decisions.jsonl
    entries: lines
  - path: CHANGELOG.md
    entries: blocks
    start: '^## '
    order: newest-first
  - path: migrations/*.sql
    entries: files
    order: name
`,
	"decisions.jsonl":       "{\"n\":1}\n",
	"CHANGELOG.md":          "# Changelog\n\n## 1.0\n\n- begun\n",
	"migrations/0001_a.sql": "create table a (id int);\n",
}

// release is a branch that adds to each of the logs.
func release(t *testing.T, r *gittest.Repo, branch, from string, n int) {
	t.Helper()
	r.Branch(branch, from)
	r.Write("decisions.jsonl", readFile(t, r.Path("decisions.jsonl"))+fmt.Sprintf("{\"n\":%d}\n", n))
	head, rest, _ := strings.Cut(readFile(t, r.Path("CHANGELOG.md")), "## ")
	r.Write("CHANGELOG.md", head+fmt.Sprintf("## 1.%d\n\n- %s\n\n## ", n, branch)+rest)
	r.Write(fmt.Sprintf("migrations/%04d_%s.sql", n, branch), "alter table a add column "+branch+" int;\n")
	r.Commit("Release " + branch)
}

// squash lands a branch on main as one commit, and returns what main was.
func squash(r *gittest.Repo, branch string) (before string) {
	r.Switch("main")
	before = r.ID("main")
	r.Git("merge", "-q", "--squash", branch)
	r.Git("commit", "-q", "-m", "Squash "+branch)
	return before
}

// wholeWay takes two branches that append to every log through pull requests into main: the first is squashed, the second merges main and is
// squashed; a third goes through a queue, and a fourth comes from a fork. judge is called for each event.
func wholeWay(t *testing.T, r *gittest.Repo, judge func(step string, honest bool, event event)) {
	t.Helper()
	release(t, r, "one", "main", 2)
	release(t, r, "two", "main", 3)
	judge("pull request", true, pullRequest(r, "main", "one"))
	before := squash(r, "one")
	judge("squash", true, push(r, "main", before, "main", false))
	r.Switch("two")
	if _, err := r.Try("merge", "-q", "main"); err == nil {
		t.Fatal("both sides appended, and git merged that")
	}
	if out, errs, status := run(t, r, nil, filepath.Join(built(t).program, "small-hook"), "reconcile"); status != 0 {
		t.Fatalf("reconcile ended with %d: %s%s", status, out, errs)
	}
	r.Git("commit", "-q", "--no-edit")
	judge("pull request with a merge of main", true, pullRequest(r, "main", "two"))
	before = squash(r, "two")
	judge("squash of it", true, push(r, "main", before, "main", false))
	release(t, r, "three", "main", 4)
	r.Switch("main")
	r.Git("merge", "-q", "--no-ff", "--no-edit", "three")
	r.Git("branch", "queue")
	r.Git("reset", "-q", "--hard", "HEAD^")
	judge("queue", true, mergeGroup(r, "main", "queue"))
	r.Git("checkout", "-q", "-B", "main", "queue")
	release(t, r, "four", "main", 5)
	fork := pullRequest(r, "main", "four")
	fork.payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] = map[string]any{"full_name": "somebody/consumer", "fork": true}
	judge("fork", true, fork)
	squash(r, "four")
	for path, want := range map[string]string{
		"decisions.jsonl": "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n",
		"CHANGELOG.md":    "# Changelog\n\n## 1.5\n\n- four\n\n## 1.4\n\n- three\n\n## 1.3\n\n- two\n\n## 1.2\n\n- one\n\n## 1.0\n\n- begun\n",
	} {
		if got := readFile(t, r.Path(path)); got != want {
			t.Errorf("%s is %q, not %q", path, got, want)
		}
	}
	if files, err := os.ReadDir(r.Path("migrations")); err != nil || len(files) != 5 {
		t.Errorf("migrations: %v, %v", files, err)
	}
	r.Branch("tampered", "main")
	r.Write("decisions.jsonl", strings.Replace(readFile(t, r.Path("decisions.jsonl")), "{\"n\":2}", "{\"n\":22}", 1))
	r.Commit("Tamper")
	judge("rewrite", false, pullRequest(r, "main", "tampered"))
}

// verdictOf is what the gate says of the change.
func verdictOf(honest bool) string {
	if honest {
		return "passed: 0 errors, 0 warnings"
	}
	return "append-only/modified"
}

// TestLogsOnGitHub takes logs of other kinds through pull requests, squashes, a queue and a fork: there is no false finding, and no line is
// lost.
func TestLogsOnGitHub(t *testing.T) {
	installed(t, "act")
	t.Parallel()
	files := workflow("small-gate/small-gate/composite@v1", "          mirror: file://"+built(t).mirror+"\n")
	for path, text := range otherLogs {
		files[path] = text
	}
	r := newConsumer(t, files)
	wholeWay(t, r, func(step string, honest bool, ev event) {
		args := append(append([]string{"--local-repository", "small-gate/small-gate@v1=" + built(t).release}, hostMode...), ev.args...)
		done := act(t, r, ev.name, ev.payload, args...)
		if (done.status == 0) != honest || !strings.Contains(done.log, verdictOf(honest)) || honest && len(done.annotations) > 0 {
			t.Errorf("%s: exit status %d, annotations %q\n%s", step, done.status, done.annotations, done.log)
		}
	})
}

// TestLogsOnGitLab is the same in GitLab's pipelines.
func TestLogsOnGitLab(t *testing.T) {
	installed(t, "gitlab-ci-local")
	t.Parallel()
	r := newProject(t, gitlabIncludes["include"])
	for path, text := range otherLogs {
		r.Write(path, text)
	}
	r.Write(".gitignore", "small-gate-reports/\n.gitlab-ci-local/\n")
	r.Commit("Guard the logs")
	wholeWay(t, r, func(step string, honest bool, ev event) {
		variables := map[string]string{"CI_PIPELINE_SOURCE": "push"}
		switch change := ev.payload; ev.name {
		case "push":
			variables["CI_COMMIT_BEFORE_SHA"] = change["before"].(string)
		case "merge_group": // a merge train, whose pipeline is that of the merged result
			group := change["merge_group"].(map[string]any)
			variables["CI_PIPELINE_SOURCE"], variables["CI_MERGE_REQUEST_EVENT_TYPE"] = "merge_request_event", "merge_train"
			variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = group["base_sha"].(string)
		default:
			request := change["pull_request"].(map[string]any)
			head := request["head"].(map[string]any)
			r.Git("checkout", "-q", "--detach", head["sha"].(string))
			variables["CI_PIPELINE_SOURCE"], variables["CI_MERGE_REQUEST_EVENT_TYPE"] = "merge_request_event", "detached"
			variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = request["base"].(map[string]any)["sha"].(string)
			if _, fork := head["repo"]; fork {
				variables["CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"] = "somebody/consumer"
			}
		}
		if variables["CI_PIPELINE_SOURCE"] == "merge_request_event" {
			variables["CI_MERGE_REQUEST_IID"], variables["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "7", "main"
			r.Git("update-ref", "refs/remotes/origin/main", "main")
		}
		said, status := pipeline(t, r, variables, "--force-shell-executor", "--shell-isolation", "small-gate")
		if (status == 0) != honest || !strings.Contains(said, verdictOf(honest)) {
			t.Errorf("%s: exit status %d\n%s", step, status, said)
		}
	})
}
