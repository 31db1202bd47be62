package splice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// picked is a case in which what theirs adds is one's own.
func picked(base, ours, theirs string) Case {
	c := fork(base, ours, theirs)
	c.Theirs[0].Picked = true
	return c
}

// stepless is a text in which entries that were moved are one nanosecond apart, as they stand, and not up to 50,000.
func stepless(text string) string {
	n := 1
	return regexp.MustCompile(`\.0000[0-4][0-9]{4}Z`).ReplaceAllStringFunc(text, func(fraction string) string {
		if fraction != ".000000001Z" {
			n++
			return fmt.Sprintf(".%09dZ", n)
		}
		return fraction
	})
}

// What is one's own comes last, with later times only where they are needed, and no entry says so.
func TestOwnComesLast(t *testing.T) {
	a, b, c, d := at("a", 1), at("b", 2), at("c", 3), at("d", 4)
	after := func(entry, time string) string { // the time is the last line of an entry that got another one
		task, evidence, _ := strings.Cut(entry, "    timestamp: \"2026-03-01T09:0")
		_, evidence, _ = strings.Cut(evidence, "\n")
		return task + evidence + "    timestamp: \"2026-03-01T09:" + time + "Z\"\n"
	}
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"later":            {text(a), text(a, b), text(a, c), text(a, b, c)},
		"earlier":          {text(a), text(a, c), text(a, b), text(a, c, after(b, "03:00.000000002"))},
		"at once":          {text(a), text(a, c), text(a, at("x", 3)), text(a, c, after(at("x", 3), "03:00.000000002"))},
		"only the first":   {text(a), text(a, c), text(a, b, d), text(a, c, after(b, "03:00.000000002"), d)},
		"all":              {text(a), text(a, d), text(a, b, c), text(a, d, after(b, "04:00.000000002"), after(c, "04:00.000000003"))},
		"only the new one": {text(a, b), text(a, d), text(a, b, c), text(a, d, after(c, "04:00.000000002"))},
		"taken back":       {text(a, b), text(a, b, c), text(a), text(a, b, c)},
		"there already":    {text(a), text(a, b, c), text(a, b), text(a, b, c)},
		"no base":          {"", text(b), text(a), text(b, after(a, "02:00.000000002"))},
		"a bare time": {text(a), text(a, c), strings.ReplaceAll(text(a, b), "\"2026-03-01T09:02:00.000000001Z\"", "'2026-03-01T09:02:00.000000001Z' # then"),
			text(a, c, "  - task_id: \"b\"\n    evidence: \"done\"\n    timestamp: '2026-03-01T09:03:00.000000002Z' # then\n")},
		"in one line": {text(a), text(a, c), text(a, "  - {timestamp: \"2026-03-01T09:02:00.5Z\", task_id: b, evidence: e}\n"),
			text(a, c, "  - {timestamp: \"2026-03-01T09:03:00.000000002Z\", task_id: b, evidence: e}\n")},
		"first and long": {text(a), text(a, c), text(a, "  - timestamp: \"2026-03-01T09:02:00.5Z\"\n    task_id: b\n    evidence: |\n      e\n      # f\n"),
			text(a, c, "  - timestamp: \"2026-03-01T09:03:00.000000002Z\"\n    task_id: b\n    evidence: |\n      e\n      # f\n")},
		"a long text last": {text(a), text(a, c), text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: |\n      e\n      # f\n"),
			text(a, c, "  - task_id: b\n    timestamp: \"2026-03-01T09:03:00.000000002Z\"\n    evidence: |\n      e\n      # f\n")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := picked(test.base, test.ours, test.theirs).Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stepless(string(got.Text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Added {
				t.Error("an entry was added")
			}
		})
	}
	edited := picked(text(a, b), text(a, b, c), text(a, strings.Replace(b, "done", "gone", 1)))
	if got, err := edited.Resolve(); err == nil {
		t.Errorf("an edit was taken as a new entry:\n%s", got.Text)
	}
}

// A new entry is later than now and than every entry, by less than a millisecond, and two writers do not get the same time.
func TestTimeAfter(t *testing.T) {
	log, problems := ledger.ReadLog([]byte(text(at("a", 1), at("b", 2))), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	last, _ := ledger.ParseInstant(log.Entries[1].Timestamp)
	for _, now := range []time.Time{noon, last, last.Add(-time.Hour)} {
		from := now
		if from.Before(last) {
			from = last
		}
		var times []time.Time
		for range 10 {
			at := timeAfter(log.Ledger, now)
			if d := at.Sub(from); d < 1 || d >= time.Millisecond {
				t.Errorf("%v after %v", d, from)
			}
			times = append(times, at)
		}
		if slices.MinFunc(times, time.Time.Compare).Equal(slices.MaxFunc(times, time.Time.Compare)) {
			t.Error("ten times are one")
		}
	}
}
