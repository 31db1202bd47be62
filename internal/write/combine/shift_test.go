package combine

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

// picked is a case in which theirs adds one's own entries.
func picked(base, ours, theirs string) Case {
	c := fork(base, ours, theirs)
	c.Theirs[0].Picked = true
	return c
}

// stepless is a text with moved entries one nanosecond apart, in order, instead of up to 50,000.
func stepless(text string) string {
	n := 1
	return regexp.MustCompile(`\.000[0-9]{6}Z`).ReplaceAllStringFunc(text, func(fraction string) string {
		if fraction > ".000000001Z" {
			n++
			return fmt.Sprintf(".%09dZ", n)
		}
		return fraction
	})
}

// One's own entries are last, with later times only where needed, and no entry mentions it.
func TestOwnComesLast(t *testing.T) {
	a, b, c, d := at("a", 1), at("b", 2), at("c", 3), at("d", 4)
	after := func(entry, time string) string { // a moved entry has its time on the last line
		task, evidence, _ := strings.Cut(entry, "    timestamp: \"2026-03-01T09:0")
		_, evidence, _ = strings.Cut(evidence, "\n")
		return task + evidence + "    timestamp: \"2026-03-01T09:" + time + "Z\"\n"
	}
	anew := func(evidence string) string {
		return fmt.Sprintf("  - task_id: \"b\"\n    evidence: %q\n    timestamp: \"2026-03-01T09:03:00.000000002Z\"\n", evidence)
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
			text(a, c, "  - task_id: \"b\"\n    evidence: \"done\"\n    timestamp: \"2026-03-01T09:03:00.000000002Z\"\n")},
		"in one line": {text(a), text(a, c), text(a, "  - {timestamp: \"2026-03-01T09:02:00.5Z\", task_id: b, evidence: e}\n"),
			text(a, c, anew("e"))},
		"first and long": {text(a), text(a, c), text(a, "  - timestamp: \"2026-03-01T09:02:00.5Z\"\n    task_id: b\n    evidence: |\n      e\n      # f\n"),
			text(a, c, anew("e\n# f\n"))},
		"its anchor moved": {text(a), text(a, c), "# y\n" + text(a, "  - task_id: &t b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: e\n",
			"  - task_id: *t\n    timestamp: \"2026-03-01T09:06:00.5Z\"\n    evidence: f\n"), "# y\n" + text(a, c, anew("e"), plain("b", "06:00.5", "f"))},
		"a long text last": {text(a), text(a, c), text(a, "  - task_id: b\n    timestamp: \"2026-03-01T09:02:00.5Z\"\n    evidence: |\n      e\n      # f\n"),
			text(a, c, anew("e\n# f\n"))},
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

// A new entry is later than now and than every entry, by less than a millisecond, and two writers get different times.
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
			at := timeForNew(log.Ledger, now)
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

// Entries on a remote-tracking branch keep their text and time; unpublished ones are after all of them.
func TestPublished(t *testing.T) {
	a, b, c, d, e := at("a", 1), at("b", 2), at("c", 3), at("d", 4), at("e", 5)
	one := marker
	moved := func(task, time string) string {
		return fmt.Sprintf("  - task_id: %q\n    evidence: \"done\"\n    timestamp: \"2026-03-01T09:%sZ\"\n", task, time)
	}
	squashed := "  - task_id: \"meta/reconcile-merge\"\n    evidence: \"merged\"\n    timestamp: \"2026-03-01T09:04:00.000000001Z\"\n"
	for name, test := range map[string]struct{ base, ours, theirs, published, want string }{
		"earlier":            {text(a), text(a, c), text(a, b), b, text(a, b, c, one("1 entry", "1 entry"))},
		"later":              {text(a), text(a, b), text(a, c), c, text(a, b, c)},
		"and one's own":      {text(a), text(a, d), text(a, b, c), b, text(a, b, d, moved("c", "04:00.000000002"), one("1 entry", "2 entries"))},
		"one's own is first": {text(a), text(a, d), text(a, b, c), c, text(a, c, d, moved("b", "04:00.000000002"), one("1 entry", "2 entries"))},
		"there already":      {text(a), text(a, b, c), text(a, b), b, text(a, b, c)},
		"a squash": {text(a, c), text(a, c, e), text(a, b, c, squashed), b,
			text(a, b, c, e, strings.Replace(squashed, "04:00.000000001", "05:00.000000002", 1))},
		"a squash of one's own": {text(a, c), text(a, c, e), text(a, b, c, squashed), "",
			text(a, c, e, moved("b", "05:00.000000002"), strings.Replace(squashed, "04:00.000000001", "05:00.000000003", 1))},
	} {
		t.Run(name, func(t *testing.T) {
			p := picked(test.base, test.ours, test.theirs)
			p.Published = func(entries []ledger.Entry) (map[small.Digest]bool, error) {
				log, _ := ledger.ReadLog([]byte(text(test.published)), small.Limits{})
				if log == nil {
					return nil, nil
				}
				return ledger.DigestSet(log.Ledger), nil
			}
			got, err := p.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stepless(unjittered(got.Text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, _, err := p.LogAsResolution(readLog(t, got.Text), got.Text)
			if err != nil || again == nil {
				t.Errorf("what was made is no resolution the second time: %v", err)
			}
		})
	}
}

func readLog(t *testing.T, text []byte) *ledger.Log {
	t.Helper()
	log, problems := ledger.ReadLog(text, small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	return log
}

// Published is not called if every entry stays as it is.
func TestPublishedIsAskedLate(t *testing.T) {
	p := picked(text(at("a", 1)), text(at("a", 1), at("b", 2)), text(at("a", 1), at("c", 3)))
	p.Published = func([]ledger.Entry) (map[small.Digest]bool, error) {
		t.Error("it was asked")
		return nil, nil
	}
	if _, err := p.Resolve(); err != nil {
		t.Error(err)
	}
}

// A moved copy, on either side, is left out of a pick, but no other equal entry.
func TestCopies(t *testing.T) {
	a, b, c, d, e := at("a", 1), at("b", 2), at("c", 3), at("d", 4), at("e", 5)
	put := func(base, ours, theirs string) string {
		t.Helper()
		got, err := picked(base, ours, theirs).Resolve()
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Text)
	}
	copied := put(text(a), text(a, c), text(a, b)) // b after c
	if got := put(text(a), copied, text(a, b)); got != copied {
		t.Errorf("the original was added to its copy:\n%s", got)
	}
	longer := put(text(a), text(a, b, d), text(a, c))
	if got := put(text(a, d), longer, strings.Replace(longer, b, "", 1)); got != longer {
		t.Errorf("an entry that is there was added:\n%s", got)
	}
	if got, want := put(text(a), text(a, b, e), copied), text(a, b, e); strings.Count(got, `"b"`) != 1 || !strings.HasPrefix(got, want) {
		t.Errorf("the copy was added to its original:\n%s", got)
	}
	again := strings.Replace(e, `"e"`, `"b"`, 1)
	for name, test := range map[string][2]string{
		"said again later":         {copied, text(a, b, again)},
		"said again there":         {text(a, c, again), text(a, b)},
		"twice, and one was moved": {copied, text(a, b, strings.Replace(d, `"d"`, `"b"`, 1))},
	} {
		if got := put(text(a), test[0], test[1]); strings.Count(got, `"b"`) != 2 {
			t.Errorf("%s: it is not there twice:\n%s", name, got)
		}
	}
	published := picked(text(a), text(a, b, e), copied)
	published.Published = func(entries []ledger.Entry) (map[small.Digest]bool, error) {
		return ledger.DigestSet(ledger.OfEntries(entries)), nil
	}
	if got, err := published.Resolve(); err != nil || strings.Count(string(got.Text), `"b"`) != 2 {
		t.Errorf("a copy that was published was left out: %v", err)
	}
}
