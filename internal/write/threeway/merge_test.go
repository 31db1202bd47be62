package threeway

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// merging is a merge of one file; an empty text is a missing file.
func merging(a small.Artifact, base, ours, theirs string) Merge {
	version := func(name, text string) Version {
		v := Version{Name: name, Files: map[small.Artifact][]byte{}, Named: map[string]bool{}}
		if text != "" {
			v.Files[a] = []byte(text)
		}
		return v
	}
	m := Merge{Ours: version("main", ours), Theirs: version("agent-2", theirs)}
	m.Theirs.Commit = "2222"
	if base != "" {
		m.Bases = []Version{version("the merge base", base)}
	}
	return m
}

func workspaceText(updated string, more ...string) string {
	return "small_version: \"1.0.0\"\nowner: agent\nkind: repo-root\ncreated_at: \"2026-03-01T09:00:00.5Z\"\nupdated_at: \"" + updated + "\"\n" + strings.Join(more, "")
}

const (
	early, later, latest = "2026-03-01T09:00:00.5Z", "2026-03-01T10:00:00.5+00:00", "2026-03-01T12:30:00.5+02:00"

	runA = "run:\n    replay_id: aaaa\n"
	runB = "run:\n    replay_id: bbbb\n"
)

func TestWorkspace(t *testing.T) {
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"the later counts":        {workspaceText(early), workspaceText(later), workspaceText(latest), workspaceText(latest)},
		"the other way":           {workspaceText(early), workspaceText(latest), workspaceText(later), workspaceText(latest)},
		"a run of theirs":         {workspaceText(early), workspaceText(latest), workspaceText(later, runA), workspaceText(latest, runA)},
		"a run of ours":           {workspaceText(early, runA), workspaceText(later, runB), workspaceText(latest, runA), workspaceText(latest, runB)},
		"without a base":          {"", workspaceText(later, runA), workspaceText(latest), workspaceText(latest, runA)},
		"no time":                 {workspaceText(early), workspaceText("then"), workspaceText(later), workspaceText(later)},
		"removed and changed":     {workspaceText(early, runA), workspaceText(later), workspaceText(later, runB), workspaceText(later, runB)},
		"removed":                 {workspaceText(early, runA), workspaceText(latest), workspaceText(later, runA), workspaceText(latest)},
		"ours is missing":         {workspaceText(early), "", workspaceText(later), workspaceText(later)},
		"theirs is missing":       {workspaceText(early), workspaceText(later), "", workspaceText(later)},
		"both are missing":        {workspaceText(early), "", "", ""},
		"only theirs":             {workspaceText(early), workspaceText(early), workspaceText(early) + "# seen\n", workspaceText(early) + "# seen\n"},
		"an unreadable base":      {"[", workspaceText(later, runA), workspaceText(latest, runA), workspaceText(latest, runA)},
		"another order, and more": {workspaceText(early), "# ours\n" + workspaceText(later, "note: x\n"), runA + workspaceText(latest), "# ours\n" + workspaceText(latest, "note: x\n", runA)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := merging(small.Workspace, test.base, test.ours, test.theirs).Workspace()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkspaceStops(t *testing.T) {
	for name, test := range map[string]struct{ base, ours, theirs, want, remedy string }{
		"two runs":                   {workspaceText(early), workspaceText(later, runA), workspaceText(latest, runB), `run.replay_id: "aaaa" of main, "bbbb" of agent-2`, "--source=HEAD --staged"},
		"unreadable":                 {workspaceText(early), workspaceText(later), "<<<<<<< x\n", ".small/workspace.small.yml of agent-2 cannot be merged: line 1: the file contains a conflict marker", "--source=HEAD --staged"},
		"ours is":                    {workspaceText(early), "a: [", workspaceText(later), ".small/workspace.small.yml of main cannot be merged", "--source=2222 --staged"},
		"anchors":                    {workspaceText(early), workspaceText(later, "a: &x 1\nb: *x\n"), workspaceText(latest), "anchors", "--source=2222 --staged"},
		"a text that yaml.v3 breaks": {workspaceText(early), workspaceText(later, "a: |\n\n    x\n    y\n"), workspaceText(latest, "b: 1\n"), "cannot be written without changing", "--source=HEAD --staged"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := merging(small.Workspace, test.base, test.ours, test.theirs).Workspace()
			if err == nil {
				t.Fatalf("it was merged:\n%s", got)
			}
			f := failure.Of(err)
			if !strings.Contains(f.Message, test.want) || !strings.Contains(f.Remedy, test.remedy) {
				t.Errorf("%v\n%s", f.Message, f.Remedy)
			}
		})
	}
}

func handoffText(summary, current, run string) string {
	return "small_version: \"1.0.0\"\nowner: agent\nsummary: " + summary + "\nresume:\n    current_task_id: " + current + "\n    next_steps: []\nlinks: []\nreplayId:\n    value: " + run + "\n    source: auto\n"
}

func TestHandoff(t *testing.T) {
	plan := planText(one("task-1", "Read"), one("task-2", "Write"))
	for name, test := range map[string]struct {
		base, ours, theirs, want string
		workspaces               [2]string
	}{
		"the newer counts": {base: handoffText("a", "task-1", "aaaa"), ours: handoffText("b", "task-1", "aaaa"), theirs: handoffText("c", "task-2", "aaaa"),
			want: handoffText("c", "task-2", "aaaa"), workspaces: [2]string{later, latest}},
		"the other way": {base: handoffText("a", "task-1", "aaaa"), ours: handoffText("b", "task-1", "aaaa"), theirs: handoffText("c", "task-2", "aaaa"),
			want: handoffText("b", "task-2", "aaaa"), workspaces: [2]string{latest, later}},
		"the workspace's run": {base: handoffText("a", "task-1", "cccc"), ours: handoffText("b", "task-1", "bbbb"), theirs: handoffText("c", "task-1", "cccc"),
			want: handoffText("c", "task-1", "aaaa"), workspaces: [2]string{later, latest}},
		"a run that is no string": {base: handoffText("a", "task-1", "1"), ours: handoffText("b", "task-1", "null"), theirs: handoffText("c", "task-1", "1"),
			want: handoffText("c", "task-1", "aaaa"), workspaces: [2]string{later, latest}},
		"a task that is gone": {base: handoffText("a", "task-1", "aaaa"), ours: handoffText("b", "task-7", "aaaa"), theirs: handoffText("c", "task-1", "aaaa"),
			want: handoffText("b", "null", "aaaa"), workspaces: [2]string{latest, later}},
		"bookkeeping": {base: handoffText("a", "task-1", "aaaa"), ours: handoffText("b", "meta/x", "aaaa"), theirs: handoffText("c", "task-1", "aaaa"),
			want: handoffText("b", "meta/x", "aaaa"), workspaces: [2]string{latest, later}},
		"without a base": {ours: handoffText("b", "task-1", "aaaa"), theirs: handoffText("c", "task-2", "aaaa"),
			want: handoffText("c", "task-2", "aaaa"), workspaces: [2]string{early, latest}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merging(small.Handoff, test.base, test.ours, test.theirs)
			m.Ours.Files[small.Workspace] = []byte(workspaceText(test.workspaces[0]))
			m.Theirs.Files[small.Workspace] = []byte(workspaceText(test.workspaces[1]))
			got, err := m.Handoff([]byte(plan), []byte(workspaceText(latest, runA)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
