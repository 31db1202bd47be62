package reconcile

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// The field is written anew, and not the words before it on its line.
func TestReplaceIDsIn(t *testing.T) {
	old, now := strings.Repeat("ab", 20), strings.Repeat("cd", 20)
	// A line ends at LINE SEPARATOR, too.
	text := "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" +
		"  - {task_id: \"task-1\", timestamp: \"2026-03-01T10:00:00.000000001Z\", evidence: \"é\u2028éééééééééééééééééééé see abababa\", commit: \"abababa\"}\n"
	got, notes, err := replaceCommitIDs([]byte(text), nil, map[string]string{old: now}, func([]ledger.Entry) (map[small.Digest]bool, error) { return nil, nil })
	if want := strings.Replace(text, `commit: "abababa"`, `commit: "cdcdcdc"`, 1); err != nil || len(notes) != 1 || string(got) != want {
		t.Errorf("%v, %q:\n%s", err, notes, got)
	}
}
