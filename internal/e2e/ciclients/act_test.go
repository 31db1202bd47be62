//go:build !windows

package ciclients_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// jobRun is the result of a workflow, as printed by act.
type jobRun struct {
	// annotations are the errors and warnings, as "error .small/progress.small.yml:6 text".
	annotations []string
	outputs     map[string]string
	summary     string
	// step and job are "success" or "failure", for the step with the id gate and the whole.
	step, job string
	status    int
	log       string
}

// act runs a workflow of a repository for an event, and reads its result.
func act(t *testing.T, repo *gittest.Repo, event string, payload map[string]any, args ...string) jobRun {
	t.Helper()
	program := installed(t, "act")
	home := t.TempDir()
	body, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "event.json")
	if err := os.WriteFile(file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOPATH=" + goEnv(t, "GOPATH")}
	args = append([]string{event, "--json", "--no-cache-server", "-e", file}, args...)
	// Without a container, act on a busy machine sometimes drops all output of a failed step. Running it again distinguishes that from a
	// silent gate.
	for range 4 {
		r := read(t, repo, env, program, args)
		if r.status == 0 || len(r.annotations) > 0 {
			return r
		}
	}
	return read(t, repo, env, program, args)
}

// read runs act and parses its output.
func read(t *testing.T, repo *gittest.Repo, env []string, program string, args []string) jobRun {
	t.Helper()
	stdout, stderr, status := run(t, repo, env, program, args...)
	r := jobRun{outputs: map[string]string{}, status: status}
	lines := bufio.NewScanner(strings.NewReader(stdout + stderr))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		r.take(t, lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// take parses one line from act.
func (r *jobRun) take(t *testing.T, text string) {
	t.Helper()
	var line struct {
		Command    string
		KvPairs    map[string]string
		Arg        string
		Name       string
		Content    string
		StepResult string
		Stage      string
		StepID     []string `json:"stepID"`
		JobResult  string
		Msg        string
	}
	if !strings.HasPrefix(text, "{") {
		r.log += text + "\n"
		return
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("act says %q: %v", text, err)
	}
	r.log += strings.TrimRight(line.Msg, "\n") + "\n"
	switch line.Command {
	case "error", "warning", "notice":
		r.annotations = append(r.annotations, line.Command+" "+line.KvPairs["file"]+":"+line.KvPairs["line"]+" "+line.Arg)
	case "set-output":
		r.outputs[line.Name] = line.Arg
	case "summary":
		r.summary = line.Content // the inner and the outer step of a composite action have the same one
	}
	if line.StepResult != "" && line.Stage == "Main" && len(line.StepID) > 0 && line.StepID[0] == "gate" {
		r.step = line.StepResult // the outer step's is last
	}
	if line.JobResult != "" {
		r.job = line.JobResult
	}
}

// expect demands an outcome, and that all places that show it agree.
func (r jobRun) expect(t *testing.T, pass bool, commits string) {
	t.Helper()
	want, verdict, errors := "success", "pass", "0"
	if !pass {
		want, verdict, errors = "failure", "fail", "1"
	}
	if r.job != want || r.step != want || (r.status == 0) != pass {
		t.Errorf("job %q, step %q, exit status %d; want %s", r.job, r.step, r.status, want)
	}
	for name, value := range map[string]string{"verdict": verdict, "errors": errors, "waived": "0", "commits": commits} {
		if r.outputs[name] != value {
			t.Errorf("output %s is %q, not %q", name, r.outputs[name], value)
		}
	}
	var logs []struct {
		Path    string
		Entries int
		Head    string
	}
	if err := json.Unmarshal([]byte(r.outputs["ledgers"]), &logs); err != nil || len(logs) != 1 || logs[0].Path != progress || !strings.HasPrefix(logs[0].Head, "sha256:") {
		t.Errorf("output ledgers is %q (%v)", r.outputs["ledgers"], err)
	}
	var found []string
	for _, a := range r.annotations {
		if strings.HasPrefix(a, "error ") {
			found = append(found, a)
		}
	}
	if pass && len(found) != 0 || !pass && (len(found) != 1 || !strings.HasPrefix(found[0], "error "+progress+":")) {
		t.Errorf("annotations: %q", r.annotations)
	}
	if r.summary == "" || strings.Contains(r.summary, "append-only/") == pass {
		t.Errorf("summary: %q", r.summary)
	}
	if t.Failed() {
		t.Log(r.log)
	}
}

// event is GitHub's description of an event, and further arguments for act.
type event struct {
	name    string
	payload map[string]any
	args    []string
}

var repository = map[string]any{"default_branch": "main", "full_name": "team/consumer", "name": "consumer"}

func pullRequest(r *gittest.Repo, base, head string) event {
	// The merge of the two, as made by GitHub, is checked out.
	r.Git("checkout", "-q", "--detach", base)
	r.Git("merge", "-q", "--no-ff", "--no-edit", head)
	r.Git("update-ref", "refs/remotes/origin/main", base)
	r.Git("update-ref", "refs/remotes/pull/7/merge", "HEAD")
	return event{name: "pull_request", payload: map[string]any{
		"action": "synchronize", "number": 7, "repository": repository,
		"pull_request": map[string]any{
			"number": 7,
			"base":   map[string]any{"ref": "main", "sha": r.ID(base)},
			"head":   map[string]any{"ref": "topic", "sha": r.ID(head)},
		},
	}}
}

func push(r *gittest.Repo, branch, before, after string, forced bool) event {
	before, after = r.ID(before), r.ID(after)
	r.Git("checkout", "-q", "-B", branch, after)
	r.Git("update-ref", "refs/remotes/origin/main", "main")
	return event{name: "push", args: []string{"--env", "GITHUB_REF=refs/heads/" + branch}, payload: map[string]any{
		"ref": "refs/heads/" + branch, "before": before, "after": after, "forced": forced, "created": false, "deleted": false, "repository": repository,
	}}
}

func mergeGroup(r *gittest.Repo, base, head string) event {
	queue := "gh-readonly-queue/main/pr-7-" + r.ID(base)
	r.Git("checkout", "-q", "-B", queue, head)
	r.Git("update-ref", "refs/remotes/origin/main", base) // fetch-depth: 0 brings all branches
	return event{name: "merge_group", args: []string{"--env", "GITHUB_REF=refs/heads/" + queue}, payload: map[string]any{
		"action": "checks_requested", "repository": repository,
		"merge_group": map[string]any{
			"head_sha": r.ID(head), "head_ref": "refs/heads/" + queue, "base_sha": r.ID(base), "base_ref": "refs/heads/main",
		},
	}}
}

// consumerWorkflow is a user's workflow, with ACTION for the action and INPUTS for further inputs.
const consumerWorkflow = `on:
  pull_request:
  push:
  merge_group:
permissions:
  contents: read
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
        with:
          fetch-depth: 0
          persist-credentials: false
      - id: gate
        uses: ACTION
        with:
          sarif: gate.sarif
          html: gate.html
INPUTS
      - if: always()
        shell: bash
        run: test -s gate.sarif && test -s gate.html
`

func workflow(action, inputs string) map[string]string {
	text := strings.Replace(consumerWorkflow, "ACTION", action, 1)
	return map[string]string{".github/workflows/gate.yml": strings.Replace(text, "INPUTS\n", inputs, 1)}
}

// change makes a branch topic off main with an honest entry or a rewritten one.
func change(t *testing.T, r *gittest.Repo, honest bool) {
	t.Helper()
	r.Branch("topic", "main")
	if honest {
		appendEntry(t, r, 12, "of the topic")
	} else {
		rewriteEntry(t, r)
	}
}

// events are the events to test, each with a repository for it, and the number of judged commits.
var events = map[string]struct {
	make    func(t *testing.T, r *gittest.Repo, honest bool) event
	commits string
}{
	"pull request": {func(t *testing.T, r *gittest.Repo, honest bool) event {
		change(t, r, honest)
		return pullRequest(r, "main", "topic")
	}, "1"},
	"push": {func(t *testing.T, r *gittest.Repo, honest bool) event {
		change(t, r, honest)
		return push(r, "main", "main", "topic", false)
	}, "1"},
	"forced push": {func(t *testing.T, r *gittest.Repo, honest bool) event {
		// The old tip has an entry; the new one, from the same commit, has it too or not.
		r.Branch("old", "main")
		appendEntry(t, r, 11, "already pushed")
		r.Branch("topic", "main")
		r.CommitFile("readme", "rebased\n")
		if honest {
			appendEntry(t, r, 11, "already pushed")
			return push(r, "work", "old", "topic", true)
		}
		appendEntry(t, r, 11, "said otherwise")
		return push(r, "work", "old", "topic", true)
	}, "2"},
	"merge group": {func(t *testing.T, r *gittest.Repo, honest bool) event {
		change(t, r, honest)
		r.Switch("main")
		r.Git("merge", "-q", "--no-ff", "--no-edit", "topic")
		r.Git("branch", "merged")
		r.Git("reset", "-q", "--hard", "HEAD^")
		return mergeGroup(r, "main", "merged")
	}, "2"},
}

// hostMode are the arguments with which act runs without a container.
var hostMode = []string{"-P", "ubuntu-latest=-self-hosted", "-W", ".github/workflows/gate.yml"}

// TestConsumer runs the action by name in a user's workflow, as a release, which fetches the program.
func TestConsumer(t *testing.T) {
	installed(t, "act")
	for name, e := range events {
		for what, honest := range map[string]bool{"passing": true, "failing": false} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				r := newConsumer(t, workflow("small-gate/small-gate/composite@v1", "          mirror: file://"+built(t).mirror+"\n"))
				ev := e.make(t, r, honest)
				args := append(append([]string{"--local-repository", "small-gate/small-gate@v1=" + built(t).release}, hostMode...), ev.args...)
				act(t, r, ev.name, ev.payload, args...).expect(t, honest, e.commits)
			})
		}
	}
}

// TestLocal runs the action from a workflow in the action's own repository, in its present state: the program is built.
func TestLocal(t *testing.T) {
	installed(t, "act")
	for what, honest := range map[string]bool{"passing": true, "failing": false} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newConsumer(t, workflow("./composite", ""))
			for _, dir := range []string{"cmd", "internal", "composite"} {
				if err := os.CopyFS(r.Path(dir), os.DirFS(filepath.Join(root, dir))); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"go.mod", "go.sum"} {
				r.Write(file, readFile(t, filepath.Join(root, file)))
			}
			r.Commit("the action itself")
			ev := events["push"].make(t, r, honest)
			act(t, r, ev.name, ev.payload, append(hostMode, ev.args...)...).expect(t, honest, "1")
		})
	}
}

// serve serves a repository over HTTP as GitHub does, including commits that are on no branch any more, to clients with the token, or to
// everybody if that is empty.
func serve(t *testing.T, r *gittest.Repo, token string) string {
	t.Helper()
	dir := t.TempDir()
	bare := filepath.Join(dir, "team", "consumer.git")
	r.Git("clone", "-q", "--bare", ".", bare)
	r.Git("-C", bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	git := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(r.Git("--exec-path")), "git-http-backend"),
		Env:  append(r.Environ(), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, shown, _ := r.BasicAuth(); shown != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestToken runs the action on a forced push to a private repository, whose old tip is missing in the checkout without credentials. A
// workflow that does not mention the token passes on the job's own.
func TestToken(t *testing.T) {
	installed(t, "act")
	for what, c := range map[string]struct {
		token  string
		honest bool
		want   string
	}{
		"passing":          {"s3cret", true, "pass"},
		"failing":          {"s3cret", false, "fail"},
		"not to be judged": {"", true, "error"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newConsumer(t, workflow("small-gate/small-gate/composite@v1", "          mirror: file://"+built(t).mirror+"\n"))
			r.Branch("old", "main")
			appendEntry(t, r, 11, "already pushed")
			r.Branch("topic", "main")
			r.CommitFile("readme", "rebased\n")
			if c.honest {
				appendEntry(t, r, 11, "already pushed")
			}
			server := serve(t, r, "s3cret")
			r.Git("remote", "set-url", "origin", server+"/team/consumer.git")
			ev := push(r, "work", "old", "topic", true)
			r.Git("branch", "-D", "old", "topic")
			r.Git("reflog", "expire", "--expire=now", "--all")
			r.Git("prune", "--expire=now")
			args := append([]string{"--local-repository", "small-gate/small-gate@v1=" + built(t).release, "--env", "GITHUB_SERVER_URL=" + server}, hostMode...)
			if c.token != "" {
				args = append(args, "-s", "GITHUB_TOKEN="+c.token)
			}
			got := act(t, r, ev.name, ev.payload, append(args, ev.args...)...)
			if (got.job == "success") != (c.want == "pass") || got.outputs["verdict"] != c.want || strings.Contains(got.log, "s3cret") {
				t.Errorf("job %q, verdict %q\n%s\n%s", got.job, got.outputs["verdict"], got.summary, got.log)
			}
			if strings.Contains(got.summary, "append-only/deleted") != (c.want == "fail") {
				t.Errorf("the summary says %s", got.summary)
			}
		})
	}
}
