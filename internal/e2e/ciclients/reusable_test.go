//go:build !windows

package ciclients_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// called is the reusable workflow's name on the page on GitHub, and local its place in a test.
const (
	called = "small-gate/small-gate/.github/workflows/gate.yml@v1"
	local  = "./.github/workflows/gate.yml"
)

// shownIn is the first workflow in a section of docs/github.md that runs on an event and calls ours.
func shownIn(t *testing.T, heading, event string) string {
	t.Helper()
	_, section, _ := strings.Cut(readFile(t, filepath.Join(root, "docs", "github.md")), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	text, found := "", false
	for block := range strings.SplitSeq(section, "```yaml\n") {
		block, _, _ = strings.Cut(block, "```")
		if !found && strings.Contains(block, called) && strings.Contains(block, "\n  "+event+":") {
			text, found = block, true
		}
	}
	if !found {
		t.Fatalf("%q has no workflow that calls ours on %s", heading, event)
	}
	return text
}

// commentRecipe is the workflow with a comment, to which docs/github.md links.
func commentRecipe(t *testing.T) map[string]string {
	t.Helper()
	if page := readFile(t, filepath.Join(root, "docs", "github.md")); !strings.Contains(page, "(github-comment.yml)") {
		t.Error("docs/github.md does not link the workflow with a comment")
	}
	text := readFile(t, filepath.Join(root, "docs", "github-comment.yml"))
	if !strings.Contains(text, called) {
		t.Fatal("the workflow with a comment does not call ours")
	}
	return withCalled(t, text)
}

// withCalled is a workflow as a repository's own, and our reusable one beside it, for act.
func withCalled(t *testing.T, text string) map[string]string {
	t.Helper()
	return map[string]string{
		".github/workflows/caller.yml": strings.Replace(text, called, local, 1),
		// act does not know GitHub's syntax for an action of the workflow's own commit, and the release is not on GitHub.
		local[2:]: strings.NewReplacer("$/composite", "small-gate/small-gate/composite@v1",
			"https://github.com/small-gate/small-gate/releases/download", "file://"+built(t).mirror).Replace(readFile(t, filepath.Join(root, local))),
	}
}

// stub is an action that runs bash in place of somebody else's action.
func stub(t *testing.T, inputs, lines string) string {
	t.Helper()
	dir := t.TempDir()
	text := "name: a stand-in\ndescription: a stand-in\ninputs:\n"
	env := ""
	for name := range strings.FieldsSeq(inputs) {
		text += "  " + name + ":\n    description: an input\n"
		env += "        " + strings.ToUpper(strings.ReplaceAll(name, "path", "path_of")) + ": ${{ inputs." + name + " }}\n"
	}
	text += "runs:\n  using: composite\n  steps:\n    - shell: bash\n      env:\n" + env + "      run: " + lines + "\n"
	if err := os.WriteFile(filepath.Join(dir, "action.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// server has what the jobs of a workflow share on GitHub: artifacts, and a pull request's comments.
type server struct {
	dir  string
	args []string
}

// newServer makes a place for artifacts, and a gh that writes down its arguments.
func newServer(t *testing.T) server {
	t.Helper()
	s := server{dir: t.TempDir()}
	release := filepath.Join(t.TempDir(), "release")
	if err := os.CopyFS(release, os.DirFS(built(t).release)); err != nil {
		t.Fatal(err)
	}
	s.installGH(t)
	upload := regexp.MustCompile(`actions/upload-artifact@[0-9a-f]{40}`).FindString(readFile(t, filepath.Join(root, local)))
	s.args = []string{
		"-P", "ubuntu-latest=-self-hosted", "-W", ".github/workflows/caller.yml",
		"--local-repository", "small-gate/small-gate@v1=" + release,
		"--local-repository", upload + "=" + stub(t, "name path if-no-files-found", `mkdir -p "$STORE/$NAME" && cp -R "$PATH_OF/." "$STORE/$NAME"`),
		"--local-repository", "actions/download-artifact@v8=" + stub(t, "name", `cp -R "$STORE/$NAME/." .`),
	}
	return s
}

// installGH installs a gh that writes down its arguments, and keeps the comment that it gets.
func (s server) installGH(t *testing.T) {
	t.Helper()
	gh := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"$STORE/gh\"\n" +
		"case \"$*\" in\n*--jq*) if test -e \"$STORE/old\"; then cat \"$STORE/old\"; fi ;;\n*) cp comment.md \"$STORE/comment\" ;;\nesac\n"
	if err := errors.Join(os.Mkdir(filepath.Join(s.dir, "bin"), 0o755), gittest.WriteProgram(filepath.Join(s.dir, "bin", "gh"), gh)); err != nil {
		t.Fatal(err)
	}
}

// of is the repository with the server around it.
func (s server) of(r *gittest.Repo) *gittest.Repo {
	return r.With("STORE="+s.dir, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
}

// said has the calls of gh, without act's own request for a token, and with "asked" for the request to list comments.
func (s server) said(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "gh"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "api --paginate repos/team/consumer/issues/7/comments --jq "):
			calls = append(calls, "asked")
		case line != "auth token":
			calls = append(calls, line)
		}
	}
	return calls
}

// TestReusableWorkflow calls our workflow from a user's, as the page on GitHub says.
func TestReusableWorkflow(t *testing.T) {
	installed(t, "act")
	for what, c := range map[string]struct {
		event  string
		honest bool
	}{"passing": {"pull request", true}, "failing": {"pull request", false}, "pushed": {"push", true}, "pushed, failing": {"push", false}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			honest := c.honest
			text := shownIn(t, "As a reusable workflow", "pull_request")
			if c.event == "push" { // the file for pushes, with such a job
				_, pushes, _ := strings.Cut(readFile(t, filepath.Join(root, "docs", "github.md")), "\nname: small-gate-push\n")
				pushes, _, _ = strings.Cut(pushes, "\njobs:\n")
				text = "name: small-gate-push\n" + pushes + "\njobs:\n  small-gate-push:\n    uses: " + called + "\n"
			}
			r := newConsumer(t, withCalled(t, text))
			ev := events[c.event].make(t, r, honest)
			s := newServer(t)
			got := act(t, s.of(r), ev.name, ev.payload, append(s.args, ev.args...)...)
			got.expect(t, honest, "1")
			if report := readFile(t, filepath.Join(s.dir, "small-gate", "report.md")); strings.Contains(report, "append-only/") == honest {
				t.Errorf("the report in the artifact: %s", report)
			}
			if info, err := os.Stat(filepath.Join(s.dir, "small-gate", "report.html")); err != nil || info.Size() == 0 {
				t.Errorf("the page in the artifact: %v", err)
			}
		})
	}
}

// TestComment runs the recipe for a comment: one is made for a pull request that fails, and updated afterwards; there is none for one that
// always passed, and none from a fork.
func TestComment(t *testing.T) {
	installed(t, "act")
	const (
		made = "api --silent --method POST repos/team/consumer/issues/7/comments --field body=@comment.md"
		anew = "api --silent --method PATCH repos/team/consumer/issues/comments/41 --field body=@comment.md"
	)
	for name, c := range map[string]struct {
		honest   bool
		old      string
		headRepo string
		want     []string
	}{
		"failing":             {false, "", "team/consumer", []string{"asked", made}},
		"failing again":       {false, "41\n42\n", "team/consumer", []string{"asked", anew}},
		"passing":             {true, "", "team/consumer", []string{"asked"}},
		"passing at last":     {true, "41\n", "team/consumer", []string{"asked", anew}},
		"failing from a fork": {false, "", "stranger/consumer", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := commentRecipe(t)
			// After a failed called workflow, act runs no more jobs, whatever their if: says. GitHub does.
			files[".small-gate.yml"] = "version: 1\nmode: observe\n"
			r := newConsumer(t, files)
			r.Git("remote", "set-url", "origin", "git@github.com:team/consumer.git")
			ev := events["pull request"].make(t, r, c.honest)
			ev.payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] = map[string]any{"full_name": c.headRepo}
			s := newServer(t)
			if c.old != "" {
				if err := os.WriteFile(filepath.Join(s.dir, "old"), []byte(c.old), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := act(t, s.of(r), ev.name, ev.payload, append(s.args, ev.args...)...)
			if got.status != 0 || c.honest != (got.outputs["verdict"] == "pass") {
				t.Errorf("exit status %d\n%s", got.status, got.log)
			}
			if said := s.said(t); !slices.Equal(said, c.want) {
				t.Errorf("gh is asked %q, not %q\n%s", said, c.want, got.log)
			}
			if len(c.want) < 2 {
				return
			}
			text := readFile(t, filepath.Join(s.dir, "comment"))
			if !strings.HasPrefix(text, "<!-- small-gate -->\n\n## ") || strings.Contains(text, "append-only/modified") == c.honest || !strings.Contains(text, "[All reports of this run](https://") {
				t.Errorf("the comment: %s", text)
			}
		})
	}
}

// A report that is longer than a comment can be is cut before its tables, so that no block of code stays open.
func TestCommentOfALongReport(t *testing.T) {
	gittest.Long(t)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(commentRecipe(t)[".github/workflows/caller.yml"]), &workflow); err != nil {
		t.Fatal(err)
	}
	s := server{dir: t.TempDir()}
	s.installGH(t)
	r := gittest.New(t)
	r.Write("report.md", "## rejected\n\n1 error.\n\n| log |\n| --- |\n"+strings.Repeat("| a log |\n```\n", 6000))
	steps := workflow.Jobs["comment"].Steps
	stdout, stderr, status := run(t, s.of(r), []string{"GITHUB_REPOSITORY=team/consumer", "NUMBER=7", "VERDICT=fail", "RUN=https://example.com/run"},
		"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[len(steps)-1].Run)
	want := "<!-- small-gate -->\n\n## rejected\n\n1 error.\n\n\n[All reports of this run](https://example.com/run)\n"
	if got := readFile(t, filepath.Join(s.dir, "comment")); status != 0 || got != want {
		t.Errorf("exit status %d, the comment %q, not %q\n%s%s", status, got, want, stdout, stderr)
	}
}
