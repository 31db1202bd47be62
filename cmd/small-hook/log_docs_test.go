package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestLogPage asks the questions of docs/log.md about a history of 1,200 entries by three agents, with planted answers.
func TestLogPage(t *testing.T) {
	gittest.Long(t)
	page, err := os.ReadFile("../../docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	r := threeAgents(t)
	for i, want := range []struct {
		lines int // 0 for any number
		words []string
		not   string
	}{
		{1, []string{"task-7 ", "completed", "agent-2", "step 22", r.Git("log", "--format=%h", "--abbrev=12", "--grep=^Step 22$")}, "step 142"},
		{40, []string{"task-0 ", "task-39 "}, "2026-03-04"},
		{0, []string{"blocked"}, "completed"},
		{8, []string{"entry 779 of", "checksum", "agent-2", r.Git("log", "--format=%H", "--grep=^Step 778$")}, ""},
		{1, []string{"step 1197"}, ""},
		{0, []string{"agent-2", "2026-03-02 06:"}, "agent-1"},
		{120, []string{"agent-3"}, "agent-1"},
		{10, []string{"step 500", "step 509"}, ""},
		{3, []string{"step 599", "step 598", "step 597"}, "step 600"},
		{0, []string{"task-1 in_progress", "task-19 in_progress"}, "task-2"},
	} {
		blocks := shellBlock.FindAllStringSubmatch(string(page), -1)
		if i >= len(blocks) {
			t.Fatalf("the page has %d questions", len(blocks))
		}
		out := shell(t, r, blocks[i][1])
		if n := strings.Count(strings.TrimRight(out, "\n")+"\n", "\n"); want.lines > 0 && n != want.lines {
			t.Errorf("%s%d lines, want %d:\n%s", blocks[i][1], n, want.lines, out)
		}
		for _, word := range want.words {
			if !strings.Contains(out, strings.TrimSpace(word)) {
				t.Errorf("%sno %q in:\n%s", blocks[i][1], word, out)
			}
		}
		if want.not != "" && strings.Contains(out, want.not) {
			t.Errorf("%s%q in:\n%s", blocks[i][1], want.not, out)
		}
	}
}

// threeAgents is a repository in which three agents have recorded 1,200 entries, one a commit.
func threeAgents(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	begin := time.Date(2026, 3, 1, 9, 0, 0, 1, time.UTC)
	log := "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"
	var stream strings.Builder
	for i := range 1200 {
		at := begin.Add(time.Duration(i) * 5 * time.Minute)
		evidence := fmt.Sprintf("step %d is done", i)
		run := strings.Repeat("0", 64)
		if i >= 500 && i < 510 {
			run = "5f2c8e" + run[6:]
		}
		if i == 778 {
			evidence += ", and the checksum fits"
		}
		log += fmt.Sprintf("  - timestamp: %q\n    task_id: \"task-%d\"\n    status: %q\n    evidence: %q\n    replayId: %q\n",
			at.Format("2006-01-02T15:04:05.000000000Z07:00"), i/3%40, []string{"in_progress", "completed", "blocked"}[i%3], evidence, run)
		author := "Ada <ada@example.com>"
		if i >= 360 && i < 720 && i%3 == 2 {
			author = "Grace <grace@example.com>"
		}
		message := fmt.Sprintf("Step %d\n\nSmall-Agent: agent-%d\n", i, i%3+1)
		fmt.Fprintf(&stream, "commit refs/heads/main\nauthor %s %d +0000\ncommitter %[1]s %[2]d +0000\ndata %d\n%sM 100644 inline .small/progress.small.yml\ndata %d\n%s\n",
			author, at.Unix(), len(message), message, len(log), log)
	}
	r.GitInput(stream.String(), "fast-import", "--quiet", "--date-format=raw")
	r.Git("reset", "--quiet", "--hard", "main")
	return r
}
