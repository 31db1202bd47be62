package gate_test

import (
	"strings"
	"testing"
)

// TestDuplicateShowsText demands that a report says what two equal entries say, on one line, with a credential in it masked.
func TestDuplicateShowsText(t *testing.T) {
	const fields = `evidence: "importer reads 1204 rows,\n  see https://ada:hunter2secret@ci.example.com ` + "`x`" + `"`
	entry := func(time string) string {
		return "  - {task_id: \"task-1\", timestamp: \"2026-03-01T" + time + ":00.000000000Z\", " + fields + "}\n"
	}
	const log = "/.small/progress.small.yml --\nsmall_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"
	const other = "  - {task_id: \"task-2\", timestamp: \"2026-03-01T09:15:00.000000000Z\", evidence: \"checkpoints are written\"}\n"
	const lines = "{\"decision\": \"SQLite\"}\n"
	for name, test := range map[string]struct{ example, says string }{
		"two branches": {"-- ours" + log + other + entry("09:20") + "-- theirs" + log + entry("09:10"),
			`, at another time: "importer reads 1204 rows, see https://ada:`},
		"a merge": {"-- ours" + log + other + entry("09:20") + "-- theirs" + log + entry("09:10") + "-- merge" + log + entry("09:10") + other + entry("09:20"),
			`, at another time: "importer reads 1204 rows, see https://ada:`},
		"a log of one's own": {"-- 1/.small-gate.yml --\nversion: 1\nlogs: [{path: log.jsonl, entries: lines}]\n-- 1/log.jsonl --\n" + lines + "-- 2/log.jsonl --\n" + lines + lines,
			`it is the same entry as line 1: "{\"decision\": \"SQLite\"}"`},
	} {
		t.Run(name, func(t *testing.T) {
			found := newExample(t, test.example).judge(t, settings{})
			said := 0
			for _, f := range found {
				if strings.Contains(f.message, "hunter2secret") || strings.Contains(f.message, "`") {
					t.Errorf("it is not masked or escaped: %s", f.message)
				}
				if f.rule == "divergence/duplicate-entry" && strings.Contains(f.message, test.says) {
					said++
				}
			}
			if said == 0 {
				t.Errorf("nothing says what is there twice: %v", found)
			}
		})
	}
}
