//go:build !windows

package ciclients_test

import (
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

// ownEvents is the number of events for which the own workflow runs; it builds the program three times for each.
var ownEvents = 1

// TestOwnWorkflow runs this repository's own workflow for the action, as GitHub does for a pull request, a push and a merge group. The job
// itself checks the gate's results for an honest log and a rewritten one.
func TestOwnWorkflow(t *testing.T) {
	installed(t, "act")
	r := gittest.New(t)
	files, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range strings.Split(strings.TrimRight(string(files), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, file))
		if err != nil {
			continue // deleted, and not committed yet
		}
		r.Write(file, readFile(t, filepath.Join(root, file)))
		if err := os.Chmod(r.Path(file), info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	r.Commit("the project")
	r.Branch("topic", "main")
	r.CommitFile("a-change", "\n")
	stub := t.TempDir()
	if err := os.WriteFile(filepath.Join(stub, "action.yml"), []byte("name: the Go that is here\ndescription: does nothing\nruns:\n  using: composite\n  steps:\n    - run: go version\n      shell: bash\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	setUp := regexp.MustCompile(`actions/setup-go@[0-9a-f]{40}`).FindString(readFile(t, r.Path(".github/workflows/try.yml")))
	args := []string{"-P", "ubuntu-24.04=-self-hosted", "--local-repository", setUp + "=" + stub}
	try := []string{"-W", ".github/workflows/try.yml", "-j", "composite", "--matrix", "os:ubuntu-24.04"}
	start := r.ID("main")
	r.Branch("rebased", start)
	r.CommitFile("another-change", "\n")
	onPush := []string{"-W", ".github/workflows/push.yml"}
	all := []struct {
		make    func() event
		args    []string
		verdict string // of the last step
	}{
		{func() event { return pullRequest(r, start, "rebased") }, try, "fail"},
		{func() event { return push(r, "main", start, "topic", false) }, onPush, "pass"},
		{func() event { return push(r, "topic", "topic", "rebased", true) }, onPush, "pass"},
		{func() event { return mergeGroup(r, start, "rebased") }, try, "fail"},
	}
	for _, c := range all[:ownEvents] {
		ev := c.make()
		got := act(t, r, ev.name, ev.payload, slices.Concat(args, c.args, ev.args)...)
		if got.job != "success" || got.status != 0 || got.outputs["verdict"] != c.verdict {
			t.Errorf("%s: job %q, exit status %d, last verdict %q\n%s", ev.name, got.job, got.status, got.outputs["verdict"], got.log)
		}
	}
}

// TestValid checks the action and the workflows with tools that know their form. actionlint also checks the shell in them, if shellcheck is
// installed.
func TestValid(t *testing.T) {
	repo := gittest.New(t, gittest.At(t.TempDir()))
	workflows, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) < 3 {
		t.Fatalf("%d workflows: %v", len(workflows), err)
	}
	for path, text := range workflow("small-gate/small-gate@v1", "") {
		repo.Write(path, text)
		workflows = append(workflows, repo.Path(path))
	}
	for path, text := range shown(t) {
		repo.Write(".github/workflows/"+path, text)
		workflows = append(workflows, repo.Path(".github/workflows/"+path))
	}
	// As in .github/actionlint.yaml, which is not read here.
	ignored := []string{"-ignore", `specifying action "\$/composite" in invalid format because ref is missing`}
	if stdout, stderr, status := run(t, repo, nil, installed(t, "actionlint"), append(ignored, workflows...)...); status != 0 {
		t.Errorf("actionlint: exit status %d\n%s%s", status, stdout, stderr)
	}
	validator := installed(t, "action-validator")
	for _, file := range append(workflows, filepath.Join(root, "action.yml"), filepath.Join(root, "composite", "action.yml")) {
		text := readFile(t, file)
		// The validator's schema is older than this permission, which actionlint knows.
		known := regexp.MustCompile(`(?m)^ *attestations: write\n`).ReplaceAllString(text, "")
		name := "workflow.yml" // it takes a file called action.yml for an action
		if filepath.Base(file) == "action.yml" {
			name = "action.yml"
		}
		repo.Write(name, known)
		if stdout, stderr, status := run(t, repo, nil, validator, name); status != 0 {
			t.Errorf("action-validator: %s: exit status %d\n%s%s", file, status, stdout, stderr)
		}
	}
	// Check that it finds something.
	repo.Write("workflow.yml", "on: push\njobs:\n  a:\n    steps: {}\n")
	if _, _, status := run(t, repo, nil, validator, "workflow.yml"); status == 0 {
		t.Error("action-validator accepts anything")
	}
}

// ownAction is how the reusable workflow's uses: begins: the action of its own repository, at the running commit.
const ownAction = "$/composite "

// TestPinned demands that workflows pin the actions of others by commit, with the version in a comment, and that no job has more rights
// than it needs.
func TestPinned(t *testing.T) {
	workflows, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) < 3 {
		t.Fatalf("%d workflows: %v", len(workflows), err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	seen := 0
	for _, file := range workflows {
		text := readFile(t, file)
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if seen++; !pinned.MatchString(m[1]) && m[1] != "./" && m[1] != "./composite" && !strings.HasPrefix(m[1], ownAction) {
				t.Errorf("%s: %s is not pinned by commit, with its version as a comment", file, m[1])
			}
		}
		if !strings.Contains(text, "\npermissions:\n  contents: read\n") && !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s does not begin with few permissions", file)
		}
		if strings.Contains(text, "actions/checkout@") && strings.Count(text, "actions/checkout@") != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s leaves credentials in a checkout", file)
		}
	}
	if seen == 0 {
		t.Error("no workflow uses anything")
	}
}

// shown are the complete workflows on the pages, by their place.
func shown(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, page := range []string{"README.md", "docs/github.md", "docs/fleet.md"} {
		for i, block := range strings.Split(readFile(t, filepath.Join(root, page)), "```yaml\n")[1:] {
			text, _, _ := strings.Cut(block, "```")
			if whole := "\n" + text; strings.Contains(whole, "\non:") && strings.Contains(whole, "\njobs:\n") {
				texts[fmt.Sprintf("%s-%d.yml", strings.ReplaceAll(page, "/", "-"), i+1)] = text
			}
		}
	}
	for _, name := range []string{"github-comment.yml", "fleet/audit-all.yml", "witness/github.yml"} {
		texts[filepath.Base(name)] = readFile(t, filepath.Join(root, "docs", name))
	}
	if len(texts) < 8 {
		t.Fatalf("the pages show %d workflows", len(texts))
	}
	return texts
}

// TestOneMeaning checks the workflows on the pages, and our own that run the gate: those for pushes have other jobs than those for pull
// requests and merge groups, and one with a schedule is a separate file.
func TestOneMeaning(t *testing.T) {
	texts := shown(t)
	for _, name := range []string{"try.yml", "push.yml"} {
		texts[name] = readFile(t, filepath.Join(root, ".github", "workflows", name))
	}
	names := map[string][]string{} // the events for which a job runs
	for where, text := range texts {
		var workflow struct {
			On   map[string]any `yaml:"on"`
			Jobs map[string]any
		}
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for event := range workflow.On {
			for job := range workflow.Jobs {
				if job != "comment" {
					names[job] = append(names[job], event)
				}
			}
			if push, _ := workflow.On[event].(map[string]any); event == "push" && fmt.Sprint(push["branches-ignore"], push["tags"]) != "[gh-readonly-queue/**] [**]" {
				t.Errorf("%s runs for pushes of %v", where, push)
			}
			if event == "schedule" && (workflow.On["push"] != nil || workflow.On["pull_request"] != nil) {
				t.Errorf("%s has a schedule among other events", where)
			}
		}
	}
	for _, kind := range [][]string{{"pull_request", "merge_group"}, {"push"}, {"schedule", "workflow_dispatch"}} {
		found := 0
		for job, events := range names {
			if !slices.Contains(events, kind[0]) {
				continue
			}
			found++
			for _, event := range events {
				if !slices.Contains(kind, event) {
					t.Errorf("the job %s runs for %s and %s", job, kind[0], event)
				}
			}
		}
		if found == 0 {
			t.Errorf("no job runs for %s", kind[0])
		}
	}
}
