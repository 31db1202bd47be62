package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/agent/settings"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestHarnessesPage runs docs/harnesses.md, block by block. Each harness has a section with its settings file.
func TestHarnessesPage(t *testing.T) {
	gittest.Long(t)
	const tidy = "sed 's/completed/blocked/' .small/progress.small.yml >../tidied && cp ../tidied .small/progress.small.yml\n"
	events := map[string]string{ // what each harness sends after a tool, in the folder $PWD
		"claude":  `{"hook_event_name": "PostToolUse", "session_id": "1", "cwd": "$PWD", "tool_name": "Bash"}`,
		"codex":   `{"hook_event_name": "PostToolUse", "session_id": "1", "cwd": "$PWD", "tool_name": "Bash"}`,
		"gemini":  `{"hook_event_name": "AfterTool", "session_id": "1", "cwd": "$PWD", "tool_name": "run_shell_command"}`,
		"cursor":  `{"hook_event_name": "postToolUse", "session_id": "1", "workspace_roots": ["$PWD"]}`,
		"copilot": `{"hook_event_name": "PostToolUse", "session_id": "1", "cwd": "$PWD", "timestamp": "2026-11-22T21:10:07Z"}`,
	}
	tool := func(name string) string {
		return "echo '" + strings.Replace(events[name], "$PWD", `'"$PWD"'`, 1) + "' | small-hook agent-hook --harness " + name
	}
	r := typeSections(t, "../../docs/harnesses.md", "testdata/workspace/.small", 2,
		map[string]string{"What the agent reads": tidy + "! " + tool("claude")},
		"git init -q -b main && small-hook install && git add -A && git commit -q -m Start")
	if got := r.Git("status", "--porcelain"); got != "" {
		t.Errorf("what the page has undone is still there:\n%s", got)
	}
	page, err := os.ReadFile("../../docs/harnesses.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range settings.All {
		name := f.Harness.Name
		said := shell(t, r, "small-hook install --agent "+name+" && "+tidy+"{ "+tool(name)+" 2>&1 || true; } && small-hook restore && small-hook uninstall --agent "+name)
		if !strings.Contains(said, "the log in .small/ must not be rewritten") {
			t.Errorf("an agent in %s does not read it:\n%s", f.Harness.Title, said)
		}
		_, section, found := strings.Cut(string(page), "\n## "+f.Harness.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !strings.Contains(section, "File: `"+f.Path+"`") {
			t.Errorf("the page has no section on %s with its file %s", f.Harness.Title, f.Path)
		}
		if names := regexp.MustCompile("`" + name + "`|--agent " + name).FindString(string(page)); names == "" {
			t.Errorf("the page does not name %s", name)
		}
	}
}
