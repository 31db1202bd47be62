package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// dialect is what one caller sends: the harness that the settings name, the one that must be answered, and the recorded event for each
// column of the table.
type dialect struct {
	name, harness, answered string
	// environ is what the harness sets for its hooks; /repo stands for the directory.
	environ []string
	// events are lines "COLUMN: FILE [OLD NEW]": the recorded event in FILE, with NEW in place of OLD.
	events string
}

// An edit names a log, a file that exists, or one that does not. A column has no line where a harness has no such event, or none is
// recorded.
const aLog = "/repo/.small/progress.small.yml"

var dialects = []dialect{
	{"claude", "claude", "claude", []string{"CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/repo"}, `
		start: session-start
		start: session-resume
		shell: shell
		shell: doc-mcp
		failed: failure
		edit: doc-edit
		edit: write /repo/w.txt ` + aLog + `
		edit: doc-notebook /repo/a.ipynb ` + aLog + `
		elsewhere: write
		read: doc-read
		subagent: subagent-stop
		subagent: agent
		stop: stop
		again: stop-again
		other: session-end
		other: doc-tool-batch
		other: session-end SessionEnd SomethingNew`},
	{"codex", "codex", "codex", nil, `
		start: session-start
		shell: shell
		shell: doc-mcp
		edit: doc-patch-moves
		edit: patch a.txt .small/progress.small.yml
		elsewhere: patch
		stop: stop
		again: stop-again
		other: session-end
		other: doc-subagent-stop
		other: session-end SessionEnd SomethingNew`},
	{"gemini", "gemini", "gemini", []string{"GEMINI_PROJECT_DIR=/repo", "CLAUDE_PROJECT_DIR=/repo"}, `
		start: session-start
		shell: shell
		edit: edit /repo/n.txt ` + aLog + `
		edit: write /repo/n.txt ` + aLog + `
		elsewhere: edit
		read: doc-read
		stop: stop
		again: stop-again
		other: session-end
		other: doc-before-agent
		other: session-end SessionEnd SomethingNew`},
	{"cursor", "cursor", "cursor", cursorEnviron, cursorEvents},
	{"cursor through Claude Code's settings", "claude", "cursor", cursorEnviron, cursorEvents},
	{"copilot", "copilot", "copilot", copilotEnviron, copilotEvents},
	{"copilot through Claude Code's settings", "claude", "copilot", copilotEnviron, copilotEvents},
	{"copilot in camelCase", "copilot", "copilot", copilotEnviron, `
		start: camel-session-start
		shell: camel-shell
		failed: camel-failure
		edit: camel-create /repo/w.txt ` + aLog + `
		elsewhere: camel-create
		stop: camel-stop
		again: camel-stop-again
		other: camel-session-end
		other: camel-subagent-stop
		other: camel-stop-of-subagent
		other: doc-camel-prompt
		other: doc-camel-pre-tool`},
	{"copilot in VS Code", "copilot", "copilot", nil, `
		start: doc-vscode-session-start
		shell: doc-vscode-tool
		stop: doc-vscode-stop true false
		again: doc-vscode-stop
		other: doc-vscode-stop "Stop" "SomethingNew"`},
}

var (
	cursorEnviron = []string{"CURSOR_PROJECT_DIR=/repo", "CURSOR_VERSION=3.7.21", "CLAUDE_PROJECT_DIR=/repo"}
	cursorEvents  = `
		start: session-start
		shell: shell
		failed: doc-failure
		edit: doc-write /repo/a.ts ` + aLog + `
		elsewhere: doc-write
		read: doc-read
		stop: stop
		again: stop-again
		other: file-edit
		other: doc-stop-aborted
		other: doc-session-end
		other: doc-session-end sessionEnd somethingNew`
	copilotEnviron = []string{"COPILOT_CLI=1", "COPILOT_PROJECT_DIR=/repo", "CLAUDE_PROJECT_DIR=/repo"}
	copilotEvents  = `
		start: session-start
		shell: shell
		failed: failure
		edit: failure /repo/nope.txt ` + aLog + `
		elsewhere: failure /repo/nope.txt /repo/w.txt
		subagent: agent
		stop: stop
		again: stop-again
		other: session-end
		other: stop-of-subagent
		other: session-end SessionEnd SomethingNew`
)

// columns are the events of the table. "again" is the end of a turn that goes on because it was blocked just before.
var columns = []string{"start", "shell", "failed", "edit", "elsewhere", "read", "subagent", "stop", "again", "other"}

// agentOutcome is the result of events in a situation, by column: "-" for silence, I for informed, B for blocked, L for let go.
type agentOutcome struct {
	situation string
	// change happens between the session's first events, which find nothing, and this one.
	change string
	want   string
	// says is what an agent reads when it is blocked, one line each.
	says []string
	// fixed means that nothing is found after the fix is typed.
	fixed bool
}

const (
	allQuiet = "- - - - - - - - - -"
	found    = "- B B B - - B B L -"
)

var agentOutcomes = []agentOutcome{
	{"clean", "true", allQuiet, nil, false},
	{"appended", `small-hook append --task task-1 --evidence "importer reads 1204 rows" && git commit -q -a -m Work`, allQuiet, nil, false},
	{"rewritten", "sed -i s/created/made/ $LOG", found, []string{
		`finding: append-only/modified in ".small/progress.small.yml" line 7`, `field: "evidence" from "workspace created" to "workspace made"`,
		"fix: `small-hook restore`"}, true},
	{"rewritten and staged", "sed -i s/created/made/ $LOG && git add -A", found, []string{"finding: append-only/modified", "fix: `small-hook restore`"}, true},
	{"committed past the hooks", "sed -i s/created/made/ $LOG && git -c core.hooksPath=/dev/null commit -q -a -m Tidy", found, []string{
		"finding: append-only/modified", "of commit", "small-hook restore --commit"}, true},
	{"deleted", "sed -i '8,$d' $LOG", found, []string{"finding: append-only/deleted", "fix: `small-hook restore`"}, true},
	{"log deleted", "rm $LOG", found, []string{"finding: append-only/log-deleted", "fix: `"}, true},
	{"unreadable", "echo 'entries: [' >$LOG", found, []string{
		`finding: validate/yaml in ".small/progress.small.yml" line 1`, "or `small-hook restore` puts the last log back"}, true},
	{"conflict", "git merge -q other || true", found, []string{"fix: `small-hook reconcile`"}, true},
	{"git's hooks missing", "small-hook uninstall", "I - - - - - - - - -", []string{"git's hooks are missing", "pre-commit", "`small-hook install`"}, false},
	{"observed only", "echo 'version: 1\nmode: observe' >.small-gate.yml && git add -A && git commit -q -m Observe && " +
		"rm .git/small-gate/agent.json && sed -i s/created/made/ $LOG", "- - - - - - - L L -", []string{"small-gate only observes here", "append-only/modified"}, false},
	{"no repository", "rm -rf .git", allQuiet, nil, false},
	{"no workspace", "git rm -q -r .small && git -c core.hooksPath=/dev/null commit -q -m Without && rm -f .git/small-gate/agent.json", allQuiet, nil, false},
	{"broken configuration", "echo 'version: x' >.small-gate.yml", found, []string{
		`cannot judge: "the configuration of the work tree is invalid`, "fix: correct .small-gate.yml"}, false},
	{"unreadable event", "cut", "B B B B B B B B B B", []string{"cannot judge:", "cannot be read", "fix: "}, false},
}

// TestAgentHook hands the recorded events of every harness to the program, in every situation, and demands what the harness needs to
// obey it. The quick tests hand over the first event of each column, and only to Claude Code's hook in every situation.
func TestAgentHook(t *testing.T) {
	gittest.Long(t)
	base := agentRepo(t)
	for _, d := range dialects {
		for _, o := range agentOutcomes {
			guest := d.harness != d.answered
			main := !guest && o.situation == "unreadable event" || o.situation == "rewritten"
			if !gittest.All() && d.name != "claude" && !main {
				continue
			}
			t.Run(d.name+"/"+o.situation, func(t *testing.T) {
				t.Parallel()
				runSituation(t, base.Copy(t), d, o)
			})
		}
	}
}

// agentRepo is a repository with git's hooks, a log of two entries, a branch that does not merge, and files of which events speak.
func agentRepo(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	var outside []string
	for _, name := range []string{"CLAUDECODE", "CLAUDE_PROJECT_DIR", "COPILOT_CLI", "COPILOT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_VERSION", "CURSOR_PROJECT_DIR"} {
		outside = append(outside, name+"=") // these tests may be run by an agent
	}
	r = r.With(outside...).With("LOG=.small/progress.small.yml", "XDG_CACHE_HOME="+gittest.TempDir(t))
	if err := os.CopyFS(r.Path(".small"), os.DirFS("testdata/workspace/.small")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w.txt", "a.txt", "n.txt", "a.ts"} {
		r.Write(name, "x\n")
	}
	shell(t, r, "small-hook install >/dev/null && git add -A && git commit -q -m Start && git branch other")
	shell(t, r, "small-hook append --task task-1 --evidence 'read 1204 rows' && git commit -q -a -m Record")
	shell(t, r, "git switch -q other && small-hook append --task task-2 --evidence 'wrote 1204 rows' && git commit -q -a -m Other && git switch -q main")
	return r
}

// runSituation hands the events of one harness over in one situation. Each comes as the first after a session's quiet beginning.
func runSituation(t *testing.T, r *gittest.Repo, d dialect, o agentOutcome) {
	caller := &caller{t: t, r: r.With(strings.Split(strings.ReplaceAll(strings.Join(d.environ, "\n"), "/repo", r.Dir), "\n")...), d: d}
	if d.environ == nil {
		caller.r = r
	}
	events := caller.events()
	for _, first := range []string{"start", "shell"} {
		if got := caller.call("silent", first, events[first][0], false); got.kind != silent {
			t.Fatalf("%s: %+v", first, got)
		}
	}
	notes := caller.notes()
	cut := o.change == "cut"
	if !cut {
		shell(t, r, o.change)
	}
	for i, column := range columns {
		for n, event := range events[column] {
			if n > 0 && !gittest.All() {
				break
			}
			caller.restore(notes, o.situation)
			if column == "again" {
				caller.call("before", "stop", events["stop"][0], cut)
			}
			caller.demand(strings.Fields(o.want)[i], o, column, event, cut)
		}
	}
	caller.restore(notes, o.situation)
	if o.fixed {
		caller.typeFix(events["stop"][0])
	}
}

// demand hands an event over and holds what comes to the table.
func (c *caller) demand(want string, o agentOutcome, column, event string, cut bool) {
	c.t.Helper()
	got := c.call(o.situation, column, event, cut)
	kind := map[string]string{"-": silent, "I": informed, "B": blocked, "L": released}[want]
	if got.kind != kind {
		c.t.Errorf("%s: %s, not %s: %+v\n%s", column, got.kind, kind, got, event)
		return
	}
	if kind == silent {
		return
	}
	for _, part := range o.says {
		if !strings.Contains(got.text, part) {
			c.t.Errorf("%s: the agent is not told %q:\n%s", column, part, got.text)
		}
	}
	if first := "small-gate"; !strings.HasPrefix(got.text, first) || len(got.text) > 4300 {
		c.t.Errorf("%s: %d bytes:\n%s", column, len(got.text), got.text)
	}
}

// typeFix types what stands in backticks after fix:, as it stands, until the end of a turn has no finding.
func (c *caller) typeFix(stop string) {
	c.t.Helper()
	var typed []string
	for range 4 {
		got := c.call("fix", "stop", stop, false)
		if got.kind == silent || got.kind == released && strings.HasPrefix(got.text, "small-gate: not committed yet") {
			return
		}
		_, fix, _ := strings.Cut(got.text, "\nfix: ")
		fix, _, _ = strings.Cut(fix, "\n")
		for _, m := range backticks.FindAllStringSubmatch(fix, -1) {
			typed = append(typed, m[1]+": "+shell(c.t, c.r, m[1]))
		}
	}
	c.t.Errorf("the fixes have not put it right; typed were\n%s", strings.Join(typed, "\n"))
}

// caller stands for a harness in one repository.
type caller struct {
	t *testing.T
	r *gittest.Repo
	d dialect
}

var sessionField = regexp.MustCompile(`("(?:session_id|sessionId|conversation_id)":")[^"]*`)

// events are the recorded events by column, of one session, in the caller's repository.
func (c *caller) events() map[string][]string {
	c.t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(c.d.events)) {
		column, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		words := strings.Fields(rest)
		data, err := os.ReadFile(filepath.Join("..", "..", "internal", "agent", "harness", "testdata", c.d.answered, words[0]+".json"))
		if err != nil {
			c.t.Fatal(err)
		}
		text := string(data)
		if len(words) == 3 {
			if !strings.Contains(text, words[1]) {
				c.t.Fatalf("%s does not say %s", words[0], words[1])
			}
			text = strings.ReplaceAll(text, words[1], words[2])
		}
		text = sessionField.ReplaceAllString(text, "${1}session-1")
		out[column] = append(out[column], strings.ReplaceAll(text, `"/repo`, `"`+c.r.Dir))
	}
	return out
}

// call runs the program as the harness would, and says what the harness makes of it.
func (c *caller) call(situation, column, event string, cut bool) heard {
	c.t.Helper()
	if cut {
		event = event[:len(event)/2]
	}
	cmd := exec.Command("small-hook", "agent-hook", "--harness", c.d.harness)
	cmd.Dir, cmd.Env, cmd.Stdin = c.r.Dir, c.r.Environ(), strings.NewReader(event)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	out := hookOutput{column: column, status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	answered := c.d.answered
	if cut {
		out.column, answered = "unread", c.d.harness // it does not say whose it is
	}
	got, err := out.heardBy(c.t, answered)
	if err != nil {
		c.t.Errorf("%s, %s: %v: status %d\nstdout: %sstderr: %s", situation, column, err, out.status, out.stdout, out.stderr)
	}
	return got
}

// notes are what the gate remembers of the work tree.
func (c *caller) notes() []byte {
	c.t.Helper()
	notes, err := os.ReadFile(c.r.Path(".git/small-gate/agent.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	return notes
}

// restore forgets what came after the session's beginning.
func (c *caller) restore(notes []byte, situation string) {
	c.t.Helper()
	switch situation {
	case "no repository":
	case "no workspace", "observed only":
		c.r.Remove(".git/small-gate/agent.json")
	default:
		if err := os.WriteFile(c.r.Path(".git/small-gate/agent.json"), notes, 0o600); err != nil {
			c.t.Fatal(fmt.Errorf("%s: %w", situation, err))
		}
	}
}
