package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// BenchmarkAgentHook measures, as whole processes, an event that cannot have touched .small/ (Idle) beside a pre-commit with nothing of
// .small/ staged. The log has 1.2 MB. Appended is an event of a tool that did touch it.
func BenchmarkAgentHook(b *testing.B) {
	r := gittest.New(b)
	if err := os.CopyFS(r.Path(".small"), os.DirFS("testdata/workspace/.small")); err != nil {
		b.Fatal(err)
	}
	start, err := os.ReadFile(r.Path(progressFile))
	if err != nil {
		b.Fatal(err)
	}
	var log strings.Builder
	log.Write(start)
	entry := func(i int) {
		fmt.Fprintf(&log, "  - task_id: \"task-1\"\n    timestamp: \"2026-03-02T%02d:%02d:00.%09dZ\"\n    status: \"completed\"\n    evidence: %q\n",
			i/60, i%60, i+1, strings.Repeat("importer reads every row; ", 36))
	}
	for i := range 1200 {
		entry(i)
	}
	r.Write("w.txt", "x\n")
	r.CommitFile(progressFile, log.String())
	r.Write("w.txt", "y\n")
	r.Git("add", "-A")
	event := func(name, tool, input string) {
		r.Write(".git/"+name, fmt.Sprintf(`{"hook_event_name":%q,"session_id":"1","cwd":%q,"tool_name":%q,"tool_input":%s}`, name, r.Dir, tool, input))
	}
	b.Logf("the log has %d bytes", log.Len())
	judge := func(b *testing.B, name, command string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				shell(b, r, command)
			}
		})
	}
	const hook = "small-hook agent-hook --harness claude < .git/"
	event("SessionStart", "", "{}")
	shell(b, r, hook+"SessionStart")
	event("PostToolUse", "Bash", `{"command":"true"}`)
	shell(b, r, hook+"PostToolUse")
	judge(b, "Shell", hook+"PostToolUse")
	event("PostToolUse", "Edit", fmt.Sprintf(`{"file_path":%q}`, r.Path("w.txt")))
	judge(b, "Edit", hook+"PostToolUse")
	event("PostToolUse", "Read", "{}")
	judge(b, "Read", hook+"PostToolUse")
	judge(b, "Idle", "small-hook pre-commit")
	event("Stop", "", "{}")
	judge(b, "Stop", hook+"Stop")
	entry(1200)
	r.Write(progressFile, log.String())
	event("PostToolUse", "Bash", `{"command":"true"}`)
	judge(b, "Appended", "touch "+progressFile+"; "+hook+"PostToolUse")
}
