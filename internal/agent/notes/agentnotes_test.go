package agentnotes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	agentnotes "github.com/small-gate/small-gate/internal/agent/notes"
	"github.com/small-gate/small-gate/internal/base/failure"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func TestNotesAreKept(t *testing.T) {
	file := agentnotes.In(t.TempDir())
	n, err := agentnotes.Read(file)
	if err != nil || n.Begun() {
		t.Fatalf("new notes: %v, begun: %v", err, n.Begun())
	}
	n.Branches = map[string]string{"refs/heads/main": "1", "refs/heads/new": ""}
	n.Look = &agentnotes.Look{Branch: "refs/heads/main", Parents: []string{"1"}, Files: map[string]agentnotes.Stat{"a": {Size: 1, Time: 2}}, Clean: true}
	n.MayBlock("claude/1", "x", false, now)
	if err := n.Save(); err != nil {
		t.Fatal(err)
	}
	again, err := agentnotes.Read(file)
	if err != nil || !again.Begun() {
		t.Fatalf("notes that were kept: %v", err)
	}
	if d := cmp.Diff(n, again, cmpopts.IgnoreUnexported(agentnotes.Notes{})); d != "" {
		t.Error(d)
	}
}

func TestDamagedNotesAreRefused(t *testing.T) {
	for _, text := range []string{"", "broken", `{"version": 2}`, `{"branches": 1}`} {
		file := filepath.Join(t.TempDir(), "agent.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := agentnotes.Read(file); err == nil || failure.Of(err).Remedy == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPutOffTwice demands that the same findings put off a turn at most twice in a row, whatever the harness says.
func TestPutOffTwice(t *testing.T) {
	steps := []struct {
		session, findings string
		continuing, may   bool
	}{
		{"s", "x", false, true}, {"s", "x", false, true}, {"s", "x", false, false}, {"s", "x", true, false},
		{"other", "x", false, true}, {"other", "x", true, false}, {"other", "x", false, true}, {"other", "x", false, false},
		{"s", "y", true, true}, {"s", "y", true, false}, {"s", "x", false, true},
	}
	n, err := agentnotes.Read(agentnotes.In(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		if got := n.MayBlock(s.session, s.findings, s.continuing, now); got != s.may {
			t.Errorf("step %d, %+v: %v", i, s, got)
		}
	}
	if !n.ClearFindings("s") || n.ClearFindings("s") {
		t.Error("a turn was put off, and then it was not")
	}
	if !n.MayBlock("s", "x", false, now) {
		t.Error("a turn without findings in between, and it is let go at once")
	}
}

func TestOldSessionsAreForgotten(t *testing.T) {
	n, err := agentnotes.Read(agentnotes.In(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		n.NoteSession(fmt.Sprint(i), "1", nil, now.Add(time.Duration(i)))
	}
	if _, old := n.Sessions["0"]; old || len(n.Sessions) > 100 {
		t.Errorf("%d sessions", len(n.Sessions))
	}
	if _, last := n.Sessions["199"]; !last {
		t.Error("the last one is gone")
	}
	// One that comes from another work tree stays, however long it was not seen: its configuration goes on counting.
	n.CopySession("old", &agentnotes.Notes{Sessions: map[string]agentnotes.Session{"old": {Policy: "2", Last: now.Add(-time.Hour)}}})
	if known := n.NoteSession("old", "3", nil, now); !known || n.Sessions["old"].Policy != "2" {
		t.Errorf("known: %v, %+v", known, n.Sessions["old"])
	}
}
