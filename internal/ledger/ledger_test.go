package ledger

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/small"
)

// TestKnownDigests pins digests and heads: reports that were kept must stay
// comparable with those of any later version.
func TestKnownDigests(t *testing.T) {
	log, problems := ReadLog([]byte(`small_version: "1.0.0"
owner: agent
entries:
  - timestamp: "2026-01-02T03:04:05.000000006Z" # first
    task_id: meta/init
    evidence: {größe: 1.50, "🙂": [~, true, 2026-01-02]}
  - {}
  - not a mapping
`), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	const first = `{"evidence":{"größe":1.5,"🙂":[null,true,!!timestamp"2026-01-02"]},"task_id":"meta/init","timestamp":"2026-01-02T03:04:05.000000006Z"}`
	head := sha256.Sum256(nil)
	for i, canonical := range []string{first, `{}`, `"not a mapping"`} {
		digest := sha256.Sum256([]byte(canonical))
		if log.Entries[i].Digest != digest {
			t.Errorf("entry %d: digest %s, want that of %s", i, log.Entries[i].Digest, canonical)
		}
		head = sha256.Sum256(slices.Concat(head[:], digest[:]))
		if log.HeadAt(i+1) != head {
			t.Errorf("head after %d entries: %s, want %x", i+1, log.HeadAt(i+1), head)
		}
	}
	for what, pair := range map[string][2]string{
		"first digest": {log.Entries[0].Digest.String(), "sha256:7f1c75b2cf28189321effc7c886acc6da9303cb66b61fd7b1038e060ae5d2225"},
		"empty entry":  {log.Entries[1].Digest.String(), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		"empty head":   {log.HeadAt(0).String(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"head":         {log.Head().String(), "sha256:6cd922a63ab4306c279b0e158615af33cbba5505e09cb8300408446f37d143de"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
}

func TestEntries(t *testing.T) {
	log, problems := ReadLog([]byte(`entries:
- task_id: a
  timestamp: 2026-01-01
  replayId: "00"
  notes: n
- task_id: 7
  timestamp: "t"
  evidence: "  "
  test: {}
- commit: !!binary aGVsbG8=
- ~
- [x]
- {task_id: "", link: "\u00a0", command: 5, verification: [], evidence: false}
`), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	var got []string
	for i, e := range log.Entries {
		if e.Index != i {
			t.Errorf("entry %d has index %d", i, e.Index)
		}
		got = append(got, fmt.Sprintf("%s %q %q %q %v", e.Pos, e.TaskID, e.Timestamp, e.ReplayID, e.Evidenced))
	}
	want := []string{
		`2:3 "a" "" "00" false`, `6:3 "" "t" "" true`, `10:3 "" "" "" true`,
		`11:3 "" "" "" false`, `12:3 "" "" "" false`, `13:3 "" "" "" false`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnreadableLogs: a ledger is readable if there is a list of entries,
// whatever they are; an empty file is not an empty ledger.
func TestUnreadableLogs(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "yaml 1:1 the file is empty; a mapping is expected",
		"owner: agent\n":          "schema 1:1 the key \"entries\" is missing | add entries: []",
		"a: 1\nentries:\n":        `schema 2:9 "entries" is null; a list is expected`,
		"a: 1\nentries: {b: 1}\n": `schema 2:10 "entries" is a mapping; a list is expected`,
		"entries: x\n":            `schema 1:10 "entries" is a string; a list is expected`,
	} {
		log, problems := ReadLog([]byte(text), small.Limits{})
		if log != nil || len(problems) != 1 || problemText(problems[0]) != want {
			t.Errorf("%q: %v, want %s", text, problems, want)
		}
	}
	for _, text := range []string{"entries: []\n", "owner: x\nentries: []\nunknown: 1\n"} {
		if log, problems := ReadLog([]byte(text), small.Limits{}); log == nil || log.Len() != 0 || log.Head() != sha256.Sum256(nil) {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func TestLedgerExtends(t *testing.T) {
	read := func(items string) *Log {
		log, problems := ReadLog([]byte("entries: ["+items+"]"), small.Limits{})
		if log == nil {
			t.Fatal(problems)
		}
		return log
	}
	empty, ab, abc, ac := read(""), read("a, b"), read("a, b, c"), read("a, c")
	for _, c := range []struct {
		longer, shorter *Log
		want            bool
	}{
		{abc, ab, true}, {abc, abc, true}, {abc, empty, true}, {empty, empty, true},
		{ab, abc, false}, {abc, ac, false}, {empty, ab, false}, {ac, ab, false},
	} {
		if got := c.longer.Extends(c.shorter.Ledger); got != c.want {
			t.Errorf("%d entries extend %d: %v", c.longer.Len(), c.shorter.Len(), got)
		}
	}
}

// TestExtensionsShareNothing extends one log in many different ways at once,
// several times over: each must end up with its own entries.
func TestExtensionsShareNothing(t *testing.T) {
	base := "entries:\n" + strings.Repeat("- first\n", 5)
	log, problems := ReadLog([]byte(base), small.Limits{})
	if log == nil {
		t.Fatal(problems)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			text, extended := base, log
			for step := range 20 {
				before := text
				text += fmt.Sprintf("- branch %d step %d\n", i, step)
				extended, _ = extended.Extend([]byte(before), []byte(text), small.Limits{})
			}
			want, problems := ReadLog([]byte(text), small.Limits{})
			if want == nil {
				t.Error(problems)
				return
			}
			if diff := diffLogs(want, extended); diff != "" {
				t.Errorf("branch %d (-read +extended):\n%s", i, diff)
			}
		})
	}
	wg.Wait()
	if log.Len() != 5 || log.HeadAt(5) != log.Head() {
		t.Error("the log itself has changed")
	}
}

func problemText(p small.Problem) string {
	text := fmt.Sprintf("%s %s %s", p.Kind, p.Pos, p.Message)
	if p.Hint != "" {
		text += " | " + p.Hint
	}
	return text
}
