package ledger

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// diffLogs compares all that a log holds, including what later extensions need.
func diffLogs(a, b *Log) string {
	return cmp.Diff(a, b, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.IgnoreFields(Ledger{}, "used"), cmpopts.EquateEmpty())
}

// randomLog joins pieces, most of them good; D stands for the indentation of
// the dashes.
func randomLog(r *rand.Rand, good int) string {
	var b strings.Builder
	for range r.IntN(5) {
		if r.IntN(100) < good {
			b.WriteString(smalltest.LogPieces[r.IntN(23)])
		} else {
			b.WriteString(smalltest.Pick(r, smalltest.LogPieces))
		}
	}
	return b.String()
}

// TestExtendIsReadLog compares the two ways of reading a longer log on random
// texts, in all that a log holds and over several extensions.
func TestExtendIsReadLog(t *testing.T) {
	short, long, unreadable := 0, 0, 0
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		dash := strings.Repeat(" ", r.IntN(4))
		head := smalltest.Pick(r, []string{"", "\ufeff", "---\n", "# head\n", "%YAML 1.1\n---\n", "owner: agent\n", "owner: &a x\n", " x: 1\n entries:\n", "%TAG !t t\n---\n"})
		if !strings.Contains(head, "entries") {
			head += smalltest.Pick(r, []string{"entries:\n", "entries:\n", "\"entries\":\n", "entries: # comment\n", "entries:\n\n# c\n", "? entries\n:\n", "entries: []\n", "entries: [a]\n", "entries: &e\n", "entries: !!seq\n"})
		}
		expand := strings.NewReplacer("D", dash)
		text := head + expand.Replace("D- task_id: first\n"+randomLog(r, 90))
		log, _ := ReadLog([]byte(text), small.Limits{})
		if log == nil {
			unreadable++
			continue
		}
		for range 3 {
			tail := expand.Replace(randomLog(r, 70))
			before := []byte(text)
			text += tail
			if log.extendByAppended(before, []byte(text), small.Limits{}) != nil {
				short++
			} else {
				long++
			}
			next := sameBothWays(t, log, before, []byte(text))
			if next == nil {
				break
			}
			log = next
		}
	}
	t.Logf("%d extensions read the short way, %d as a whole; %d texts to begin with are unreadable", short, long, unreadable)
	if short < int(*smalltest.Cases)/4 || long < int(*smalltest.Cases)/4 {
		t.Error("the texts do not try both ways")
	}
}

// sameBothWays reads data as an extension and as a whole, and demands the same
// result.
func sameBothWays(t testing.TB, log *Log, whole, data []byte) *Log {
	t.Helper()
	want, wantProblems := ReadLog(data, small.Limits{})
	got, gotProblems := log.Extend(whole, data, small.Limits{})
	if diff := cmp.Diff(wantProblems, gotProblems, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("problems (-read +extended):\n%s\n%q", diff, data)
	}
	if diff := diffLogs(want, got); diff != "" {
		t.Fatalf("(-read +extended):\n%s\n%q", diff, data)
	}
	extendsDocument(t, whole, data)
	return got
}

// extendsDocument demands that a document that is extended, and its log, are what the text is by itself.
func extendsDocument(t testing.TB, whole, data []byte) {
	t.Helper()
	before, _ := small.Parse(whole, small.Limits{})
	if before == nil {
		return
	}
	got := before.Extend(whole, data, small.Limits{})
	log, _ := LogOf(before, whole)
	if got == nil {
		return
	}
	want, problems := small.Parse(data, small.Limits{})
	if want == nil {
		t.Fatalf("extended, and cannot be read: %v\n%q", problems, data)
	}
	known := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "appendColumn" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), known); diff != "" {
		t.Fatalf("document (-read +extended):\n%s\n%q", diff, data)
	}
	read, _ := LogOf(want, data)
	if diff := diffLogs(read, log.LogOfExtended(got, data)); diff != "" {
		t.Fatalf("log of the document (-read +extended):\n%s\n%q", diff, data)
	}
}

// TestExtendShortWay names texts that must be read the short way, and some
// that must not.
func TestExtendShortWay(t *testing.T) {
	for text, want := range map[string]bool{
		"entries:\n  - a\n^  - b\n":                           true,
		"entries:\n- a\n^- b\n- c\n":                          true,
		"entries:\n  - a\n^  - b":                             true,
		"entries:\n  - a: |\n      x\n\n\n^  - b\n":           true,
		"owner: x\nentries: # e\n  - a\n# c\n^  - b\n\n# d\n": true,
		"entries:\r\n  - a\r\n^  - b: c\r\n    d: e\r\n":      true,
		"entries:\n  - a\n^":                                  true,
		"\ufeff---\nentries:\n  - a\n^  - b\n":                true,
		"entries:\n  - a^\n  - b\n":                           false,
		"entries:\n  - a\n^\n  - b\n":                         false,
		"entries:\n  - a\nowner: x\n^  - b\n":                 false,
		"entries:\n  - a\n^  - &b b\n":                        false,
		"entries:\n  - &a a\n^  - b\n":                        false,
		"entries:\n  - a\n^  - b\nowner: x\n":                 false,
		"entries:\n  - a\n...\n^  - b\n":                      false,
		"entries:\n  - a\n^  - b\n...\n":                      false,
		"entries:\n  - a\n^    - b\n":                         false,
		"entries:\n  - a # \u2028\n^  - b\n":                  false,
		"entries: []\n^  - b\n":                               false,
	} {
		before, after, _ := strings.Cut(text, "^")
		log, problems := ReadLog([]byte(before), small.Limits{})
		if log == nil {
			t.Fatalf("%q: %v", before, problems)
		}
		if got := log.extendByAppended([]byte(before), []byte(before+after), small.Limits{}) != nil; got != want {
			t.Errorf("%q: the short way is %v, want %v", text, got, want)
		}
		sameBothWays(t, log, []byte(before), []byte(before+after))
	}
}

// TestExtendOther extends a nil log, and a log by texts that do not continue its
// own.
func TestExtendOther(t *testing.T) {
	const text = "entries:\n  - a\n  - b\n"
	var none *Log
	first, problems := none.Extend(nil, []byte(text), small.Limits{})
	if first == nil || first.Len() != 2 {
		t.Fatal(problems)
	}
	for _, other := range []string{text, "", text[:len(text)-1], text[:15], strings.ToUpper(text), strings.Replace(text, "a", "c", 1) + "  - d\n", "x"} {
		sameBothWays(t, first, []byte(text), []byte(other))
		sameBothWays(t, first, []byte(other), []byte(text+"  - d\n")) // not its own text
	}
	if _, problems := first.Extend([]byte(text), []byte(text+"  - c\n"), small.Limits{MaxFileSize: 5}); len(problems) != 1 || problems[0].Kind != small.ProblemTooLarge {
		t.Errorf("the size limit is not applied: %v", problems)
	}
}

// TestExtendCountsStructure appends until the whole file has more structure
// than the limit, though no part of it has.
func TestExtendCountsStructure(t *testing.T) {
	gittest.Long(t)
	item := "- [" + strings.Repeat("a,", 3<<16) + "]\n"
	text := "entries:\n"
	log, problems := ReadLog([]byte(text+item), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	text += item
	for i := 2; ; i++ {
		before := []byte(text)
		text += item
		longer, problems := log.Extend(before, []byte(text), small.Limits{})
		if longer == nil {
			if problems[0].Kind != small.ProblemTooLarge || i != 8 {
				t.Errorf("%d items: %v", i, problems)
			}
			if _, problems := ReadLog([]byte(text), small.Limits{}); len(problems) == 0 {
				t.Errorf("as a whole the %d items are read", i)
			}
			if longer, problems := log.Extend(before, []byte(text), small.Limits{MaxFileSize: 2 * small.DefaultMaxFileSize}); longer == nil {
				t.Errorf("with the size limit doubled: %v", problems)
			}
			return
		}
		log = longer
	}
}

func ExampleLog_Extend() {
	old := []byte("entries:\n  - task_id: meta/init\n    evidence: made\n")
	log, _ := ReadLog(old, small.Limits{})
	longer, _ := log.Extend(old, append(old, "  - task_id: t-1\n    evidence: done\n"...), small.Limits{})
	fmt.Println(longer.Len(), longer.Extends(log.Ledger), longer.Entries[1].Pos)
	// Output: 2 true 4:5
}

// TestExtendUnicodeBreaks: a character that ends a line only for some readers cannot be appended.
func TestExtendUnicodeBreaks(t *testing.T) {
	const text = "entries:\n  - task_id: a\n    evidence: done\n"
	log, problems := ReadLog([]byte(text), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	for _, c := range []string{"\u0085", "\u2028", "\u2029"} {
		for name, longer := range map[string]string{
			"an entry in a comment": text + "  # struck out:" + c + "  - task_id: b\n  # " + c + "    evidence: done\n",
			"a comment behind text": text + "  - task_id: b" + c + "# never happened\n",
			"a line of text":        text + "  - evidence: |" + c + "      done" + c + "\n",
		} {
			if got, problems := log.Extend([]byte(text), []byte(longer), small.Limits{}); got != nil {
				t.Errorf("%s, %q: extended, %v", name, longer, problems)
			}
		}
	}
}

// TestEntrySuspects: an entry knows its texts that may not survive a rewrite.
func TestEntrySuspects(t *testing.T) {
	log, problems := ReadLog([]byte("entries:\n- notes: fine\n- evidence:\n    codes: [x, \"\\tb\\nc\"]\n    \"\\n\": y\n  \"a\\n\": \" no\"\n"), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	if n := len(log.Entries[1].Suspects); n != 2 || len(log.Entries[0].Suspects) != 0 {
		t.Errorf("%d suspects", n)
	}
}
