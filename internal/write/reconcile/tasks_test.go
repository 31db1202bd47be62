package reconcile

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// The entry that names others by their times tells them apart, also from those of the other side's task with the old id.
func TestEntriesForNewIDs(t *testing.T) {
	entry := func(task, at string) ledger.Entry {
		return ledger.Entry{TaskID: task, Timestamp: "2026-03-01T" + at + "Z", Digest: small.Digest(sha256.Sum256([]byte(task + at)))}
	}
	own := []ledger.Entry{entry("task-3", "10:00:00.100000001"), entry("task-3", "10:00:00.200000001"), entry("task-3", "10:01:00.300000001"), entry("task-2", "10:02:00.4")}
	all := append([]ledger.Entry{entry("task-3", "10:01:00.300000002"), entry("task-2", "10:00:00.1")}, own...)
	made := entriesForNewIDs(combine.Version{Name: "feature"}, own, all, map[string]string{"task-3": "task-4", "task-2": "task-5"})
	if len(made) != 2 {
		t.Fatalf("%q", made)
	}
	for i, want := range []string{
		"its entries of 2026-03-01T10:00:00.100Z, 2026-03-01T10:00:00.200Z and 2026-03-01T10:01:00.300000001Z still name the old id",
		"its entry of 2026-03-01T10:02:00Z still names the old id",
	} {
		if got := made[i][len(made[i])-1][1]; !strings.HasSuffix(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// nothingPublished is a repository without remote-tracking branches.
type nothingPublished struct{ Repository }

func (nothingPublished) Tips(context.Context, ...string) ([]string, error) { return nil, nil }

func (nothingPublished) Diff(context.Context, []history.Edge, history.Filter) ([][]history.Change, error) {
	return nil, nil
}

// Only the field of the entry itself is changed, also after a line that LINE SEPARATOR ends.
func TestReplaceTaskIDs(t *testing.T) {
	text := "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" +
		"  - task_id: \"task-1\"\n    timestamp: \"2026-03-01T10:00:00.1Z\"\n    evidence: \"a\u2028b\"\n" +
		"  - task_id: \"task-2\"\n    timestamp: \"2026-03-01T10:00:01.1Z\"\n    evidence: \"task-2\"\n"
	r := newReconciliation(nothingPublished{}, nil, Options{Policy: policy.Default()})
	r.op = &operation{ours: side{id: "ours"}}
	r.files["ours"] = map[string]history.File{}
	log, problems := ledger.ReadLog([]byte(text), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	side := combine.Version{Data: []byte(text)}
	stay, notes, err := r.replaceTaskIDs(t.Context(), small.Progress.Path(""), &side, log.Entries, map[string]string{"task-2": "task-3"})
	want := strings.Replace(text, `task_id: "task-2"`, `task_id: "task-3"`, 1)
	if err != nil || len(stay) != 1 || len(notes) != 1 || string(side.Data) != want {
		t.Errorf("%v, %q, %v:\n%s", stay, notes, err, side.Data)
	}
}
