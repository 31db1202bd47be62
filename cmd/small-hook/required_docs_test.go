package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestRequiredCheckPage runs the first weeks of docs/required-check.md in a repository with a rewritten past: first nothing is blocked,
// then rewrites are.
func TestRequiredCheckPage(t *testing.T) {
	gittest.Long(t)
	page := readPage(t, "../../docs/required-check.md")
	blocks := shellBlock.FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	r := gittest.New(t)
	if err := os.CopyFS(r.Dir, os.DirFS("testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	const log = ".small/progress.small.yml"
	rewrite := func(from, to string) {
		text := readPage(t, r.Path(log))
		if !strings.Contains(text, from) {
			t.Fatalf("the log does not say %q", from)
		}
		r.Write(log, strings.Replace(text, from, to, 1))
		r.Git("add", "-A")
	}
	sh := func(want int, lines, says string) {
		t.Helper()
		cmd := exec.Command("sh", "-e", "-c", lines)
		cmd.Dir, cmd.Env = r.Dir, r.Environ()
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), says) {
			t.Fatalf("%s: exit status %d, not %d, or it does not say %q\n%s", lines, got, want, says, out)
		}
	}
	r.Commit("start")
	rewrite("workspace created", "workspace made")
	r.Commit("rewrite")
	sh(1, "small-hook audit", "append-only/modified")
	sh(0, "small-hook install", "installed")
	sh(0, blocks[0][1], "")
	sh(0, "small-hook audit", "passed")
	rewrite("workspace made", "workspace done")
	sh(0, "git commit -m 'rewrite again'", "would be rejected (mode: observe)")
	sh(0, "git reset --quiet --hard HEAD^", "")
	sh(0, blocks[1][1], "")
	rewrite("workspace made", "workspace done")
	sh(1, "git commit -m 'rewrite again'", "append-only/modified")
	r.Git("reset", "--hard", "-q")
	if left := r.Git("status", "--porcelain"); left != "" {
		t.Errorf("the page leaves %s", left)
	}
}

// The ruleset requires the check by the job name that the page on GitHub sets up.
func TestRequiredCheckIsTheJob(t *testing.T) {
	_, text, found := strings.Cut(readPage(t, "../../docs/required-check.md"), "```json\n")
	text, _, closed := strings.Cut(text, "```")
	var ruleset struct {
		Rules []struct {
			Type       string
			Parameters struct {
				Checks []struct{ Context string } `json:"required_status_checks"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &ruleset); err != nil || !found || !closed {
		t.Fatalf("%v: %q", err, text)
	}
	job := regexp.MustCompile(`(?m)^jobs:\n  ([\w-]+):$`).FindStringSubmatch(readPage(t, "../../docs/github.md"))
	if len(job) != 2 {
		t.Fatal("the page on GitHub has no job")
	}
	for _, rule := range ruleset.Rules {
		if rule.Type == "required_status_checks" {
			if checks := rule.Parameters.Checks; len(checks) != 1 || checks[0].Context != job[1] {
				t.Errorf("the ruleset demands %+v, and the job is %s", checks, job[1])
			}
			return
		}
	}
	t.Errorf("no rule demands a check: %+v", ruleset)
}

// The hook for GitLab's servers in docs/installation.md accepts an honest push and rejects a rewrite, in lines that GitLab shows.
func TestGitLabServerHook(t *testing.T) {
	gittest.Long(t)
	_, text, found := strings.Cut(readPage(t, "../../docs/installation.md"), "  ```sh\n  #!/bin/sh\n")
	text, _, closed := strings.Cut(text, "  ```\n")
	if !found || !closed || !strings.Contains(text, "GL-HOOK-ERR: ") {
		t.Fatalf("the page has no hook for GitLab: %q", text)
	}
	r := gittest.New(t)
	if err := os.CopyFS(r.Dir, os.DirFS("testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	r.Commit("start")
	server := filepath.Join(t.TempDir(), "server.git")
	r.Git("init", "-q", "--bare", "-b", "main", server)
	hook := "#!/bin/sh\n" + regexp.MustCompile("(?m)^  ").ReplaceAllString(text, "")
	if err := gittest.WriteProgram(filepath.Join(server, "hooks", "pre-receive"), hook); err != nil {
		t.Fatal(err)
	}
	push := func(want string) {
		t.Helper()
		cmd := exec.Command("git", "push", "-q", server, "main")
		cmd.Dir, cmd.Env = r.Dir, r.Environ()
		out, err := cmd.CombinedOutput()
		said := regexp.MustCompile(`(?m)^remote: .*[^ \n]`).FindAllString(string(out), -1)
		if (err == nil) != (want == "") || want != "" && !strings.Contains(string(out), want) {
			t.Errorf("%v, it does not say %q\n%s", err, want, out)
		}
		for _, line := range said {
			if !strings.HasPrefix(line, "remote: GL-HOOK-ERR:") {
				t.Errorf("GitLab would not show %q", line)
			}
		}
	}
	push("")
	const log = ".small/progress.small.yml"
	r.CommitFile(log, strings.Replace(readPage(t, r.Path(log)), "workspace created", "workspace made", 1))
	push("remote: GL-HOOK-ERR: .small/progress.small.yml:7:5: error [append-only/modified]")
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
