package reconcile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/write/combine"
)

// at is an entry of a log at a minute past nine.
func at(task string, minute int) string {
	return fmt.Sprintf("  - task_id: %q\n    timestamp: \"2026-03-01T09:%02d:00.000000001Z\"\n    evidence: \"done\"\n", task, minute)
}

func text(entries ...string) string {
	return "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" + strings.Join(entries, "")
}

func TestMergeDriver(t *testing.T) {
	const log, plan = ".small/progress.small.yml", "sub/.small/plan.small.yml"
	a, b, c := at("a", 1), at("b", 2), at("c", 3)
	for name, test := range map[string]struct{ base, ours, theirs, path, want string }{
		"ours alone":         {text(a), text(a, b), text(a), log, text(a, b)},
		"theirs alone":       {text(a), text(a), text(a, b), log, text(a, b)},
		"the same":           {text(a), text(a, b), text(a, b), log, text(a, b)},
		"ours goes on":       {text(a), text(a, b, c), text(a, b), log, text(a, b, c)},
		"theirs goes on":     {text(a), text(a, b), text(a, b, c), log, text(a, b, c)},
		"both":               {text(a), text(a, b), text(a, c), log, ""},
		"an emptied log":     {text(a), "", text(a, c), log, ""},
		"a plan goes on":     {"x\n", "x\ny\n", "x\ny\nz\n", plan, ""},
		"both new":           {"", text(a), text(b), log, ""},
		"no log goes on":     {"", "x\n", "x\ny\n", log, ""},
		"an entry goes on":   {text(a), text(a, strings.TrimSuffix(b, "done\"\n")) + "do\"", text(a, b), log, ""},
		"interleaved by one": {text(a), text(a, c), text(a, b, c), log, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := MergeInput{Base: []byte(test.base), Ours: []byte(test.ours), Theirs: []byte(test.theirs), Path: test.path, Marker: 9}.Merge()
			if got.Conflict != (test.want == "") || got.Conflict == (got.Message == "") {
				t.Fatalf("conflict %v, message %q", got.Conflict, got.Message)
			}
			if !got.Conflict {
				if string(got.Text) != test.want {
					t.Errorf("got\n%s", got.Text)
				}
				return
			}
			if !bytes.Contains(got.Text, []byte("<<<<<<<<< ours\n")) || !bytes.HasSuffix(got.Text, []byte(">>>>>>>>> theirs\n")) {
				t.Errorf("it is no plain conflict:\n%s", got.Text)
			}
			if ours, theirs := sides(string(got.Text)); ours != endedText(test.ours) || theirs != endedText(test.theirs) {
				t.Errorf("something is lost:\n%s\nours:\n%s\ntheirs:\n%s", got.Text, ours, theirs)
			}
			if !strings.Contains(got.Message, test.path) || !strings.Contains(got.Message, "small-hook reconcile") {
				t.Errorf("message: %s", got.Message)
			}
		})
	}
	if got := (MergeInput{Base: []byte("a"), Ours: []byte("b"), Theirs: []byte("c"), Path: ".small/intent.small.yml"}).Merge(); !strings.Contains(got.Message, "`git restore --source=HEAD --staged --worktree -- :/.small/intent.small.yml`") {
		t.Errorf("message: %s", got.Message)
	}
}

// sides extracts both sides from a text with conflict markers of length nine.
func sides(text string) (ours, theirs string) {
	part := 0
	for line := range strings.Lines(text) {
		switch line {
		case "<<<<<<<<< ours\n":
			part = 1
		case "=========\n":
			part = 2
		case ">>>>>>>>> theirs\n":
			part = 0
		default:
			if part != 2 {
				ours += line
			}
			if part != 1 {
				theirs += line
			}
		}
	}
	return ours, theirs
}

func endedText(s string) string { return string(combine.WithLineEnd([]byte(s), "\n")) }
