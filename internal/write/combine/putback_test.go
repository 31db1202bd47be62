package combine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// plainly accepts only a log that continues another.
func plainly(parent, child *ledger.Ledger) bool { return child.Extends(parent) }

// logOf is a log of entries; each is given as a task and a minute past nine, and its evidence is both.
func logOf(entries []string) string {
	var out strings.Builder
	out.WriteString("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n")
	for _, e := range entries {
		task, minute, _ := strings.Cut(e, "@")
		fmt.Fprintf(&out, "  - task_id: %q\n    timestamp: \"2026-03-01T09:%s:00.5Z\"\n    evidence: %q\n", task, minute, e)
	}
	return out.String()
}

// Whatever was removed, moved or added in a log: the old entries are back in order, followed by each new one once, in order, and times
// increase.
func TestPutBackKeepsEverything(t *testing.T) {
	t.Parallel()
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		var old, fresh []string
		for i := range 1 + r.IntN(8) {
			old = append(old, fmt.Sprintf("old-%d@%02d", i, i))
		}
		for i := range r.IntN(5) {
			fresh = append(fresh, fmt.Sprintf("new-%d@%02d", i, r.IntN(60)))
		}
		file := damaged(r, old, fresh)
		got, err := Kind{}.PutBack([]byte(logOf(old)), []byte(logOf(file)), plainly, nil, noon, small.Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text := got.Text
		if text == nil {
			text = []byte(logOf(file))
		}
		log, problems := ledger.ReadLog(text, small.Limits{})
		if log == nil {
			t.Fatalf("seed %d: %v\n%s", seed, problems, text)
		}
		before, _ := ledger.ReadLog([]byte(logOf(old)), small.Limits{})
		var tasks []string
		for _, e := range log.Entries[before.Len():] {
			tasks = append(tasks, e.TaskID)
		}
		var want []string
		for _, e := range file {
			if strings.HasPrefix(e, "new-") {
				want = append(want, strings.Split(e, "@")[0])
			}
		}
		if !log.Extends(before.Ledger) || !slices.Equal(tasks, want) {
			t.Fatalf("seed %d: after %v there is %v in\n%s", seed, file, tasks, text)
		}
		if got.Text != nil && FirstBadTimestamp(before.Ledger, log.Ledger, noon) != nil {
			t.Fatalf("seed %d: times do not increase in\n%s", seed, text)
		}
	}
}

// damaged loses some old entries, moves others, and puts new ones anywhere.
func damaged(r *rand.Rand, old, fresh []string) []string {
	out := slices.DeleteFunc(slices.Clone(old), func(string) bool { return r.IntN(3) == 0 })
	if r.IntN(2) == 0 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	at := 0
	for _, e := range fresh {
		at += r.IntN(len(out) - at + 1)
		out = slices.Insert(out, at, e)
		at++
	}
	return out
}

// Tests what counts as two versions of an entry, and what as separate entries.
func TestPutBackTellsVersionsApart(t *testing.T) {
	t.Parallel()
	const head = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n"
	old := head + "- {task_id: a, timestamp: \"2026-03-01T09:00:00.5Z\", evidence: one, status: completed}\n"
	block := head + "- task_id: a\n  timestamp: \"2026-03-01T09:00:00.5Z\"\n  evidence: one\n  status: completed\n"
	for entry, isNew := range map[string]bool{
		`{task_id: a, timestamp: "2026-03-01T09:00:00.5Z", evidence: two, status: completed}`:                    false, // redacted
		`{task_id: b, timestamp: "2026-03-01T09:00:00.5Z", evidence: one, status: completed}`:                    false, // reassigned
		`{task_id: a, timestamp: "2026-03-01T09:00:00.500000001Z", evidence: one, status: completed}`:            false, // migrated
		`{task_id: b, timestamp: "2026-03-01T09:00:00.5Z", evidence: two, status: completed}`:                    true,  // two writers with the same clock time
		`{task_id: a, timestamp: "2026-03-01T09:01:00.5Z", evidence: two, status: completed}`:                    true,
		`{task_id: b, timestamp: "when", evidence: {x: [1, "2\n", ~, {y: true}], "z: ": 2026-01-01, "true": 1}}`: true, // its time is replaced
		`{task_id: b, timestamp: "2026-03-01T09:01:00.5Z"}`:                                                      false,
		`{task_id: b, timestamp: "2026-03-01T09:01:00.5Z", evidence: x, "bad: key\n- task_id": y}`:               false,
		`{task_id: b, timestamp: "2026-03-01T09:01:00.5Z", evidence: x, status: done}`:                           false,
		`plain`: false,
	} {
		for _, before := range []string{old, block} {
			got, err := Kind{}.PutBack([]byte(before), []byte(head+"- "+entry+"\n"), plainly, nil, noon, small.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if (got.New == 1) != isNew || got.New+len(got.Changed)+len(got.Unplaceable) != 1 || len(got.Lost) != 1 || !strings.HasPrefix(string(got.Text), before) {
				t.Errorf("%s: %+v\n%s", entry, got, got.Text)
			}
		}
	}
}

// TestPutBackPairsAsTheGate changes timestamp and notes of an entry of six fields. The gate calls it modified, so its new version is left out.
func TestPutBackPairsAsTheGate(t *testing.T) {
	t.Parallel()
	const log = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" +
		"- {task_id: a, timestamp: \"2026-03-01T09:00:00.5Z\", status: completed, evidence: one, command: make, notes: first}\n" +
		"- {task_id: b, timestamp: \"2026-03-01T09:10:00.5Z\", evidence: two}\n"
	file := strings.NewReplacer("09:00:00.5Z", "09:05:00.5Z", "first", "second").Replace(log)
	got, err := Kind{}.PutBack([]byte(log), []byte(file), plainly, nil, noon, small.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Text) != log || got.New != 0 || len(got.Changed) != 1 || len(got.Gone) != 0 {
		t.Errorf("%d new, %d changed, %d gone:\n%s", got.New, len(got.Changed), len(got.Gone), got.Text)
	}
}

// FuzzPutBack puts any log back in place of any file.
func FuzzPutBack(f *testing.F) {
	f.Add(logOf([]string{"a@01", "b@02"}), logOf([]string{"a@01", "c@03"}))
	f.Add("entries: [ ]\nowner: x\n", "entries: [{task_id: a, evidence: x}, *x]")
	f.Add("entries:\n- {task_id: a}\n- &x {b: c}\n", "entries:\n- {task_id: \"\\u2028\", timestamp: x, evidence: \"\\u0085\"}\n")
	f.Fuzz(func(t *testing.T, old, file string) {
		got, err := Kind{}.PutBack([]byte(old), []byte(file), plainly, nil, noon, small.Limits{})
		if err != nil || got.Text == nil {
			return
		}
		before, _ := ledger.ReadLog([]byte(old), small.Limits{})
		after, problems := ledger.ReadLog(got.Text, small.Limits{})
		if after == nil || !after.Extends(before.Ledger) || after.Len() != before.Len()+got.New {
			t.Fatalf("%v\n%s", problems, got.Text)
		}
	})
}
