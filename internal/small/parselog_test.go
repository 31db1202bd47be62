package small

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// FuzzParseLog demands that a log read in parts is what it is as a whole,
// places included.
func FuzzParseLog(f *testing.F) {
	for _, data := range smalltest.SeedTexts(f) {
		smalltest.Seed(f, func() { parsesBothWays(f, data) }, data)
	}
	for _, a := range smalltest.LogPieces {
		for _, b := range smalltest.LogPieces {
			text := []byte(strings.ReplaceAll("entries:\nD- first\n"+a+b+"D- last: 1\n", "D", "  "))
			smalltest.Seed(f, func() { parsesBothWays(f, text) }, text)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { parsesBothWays(t, data) })
}

// parsesBothWays reports whether the fast way was taken.
func parsesBothWays(t testing.TB, data []byte) bool {
	t.Helper()
	structure, plain, problem := checkText(data, Limits{})
	if problem != nil || !plain {
		return false
	}
	got := parseLog(data)
	if got == nil {
		return false
	}
	got.Structure = structure
	want, problems := parseWhole(data, structure, Map)
	if want == nil {
		t.Fatalf("read in parts, but not as a whole: %v\n%q", problems, data)
	}
	want.appendColumn = want.AppendColumn(data)
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Fatalf("(-whole +parts):\n%s\n%q", diff, data)
	}
	return true
}

// plainPieces are lines of members; D stands for the column of the dashes, and
// K for that of the keys.
var plainPieces = []string{
	"a: b", "b: two words", "c: http://x", "d: x:y", "e: a #b", "e: a#b", "f: b: c", "g: end:", "h: end ", "i:  two", "j: ", "k:", "l: 12", "m: 0123abc", "n: 1e5",
	"o: 2026-01-02", "p: 2026-01-02T03:04:05Z", "q: null", "r: ~", "s: true", "t: yes", "null: x", "true: x", "y: x", "<<: x", "u-v: x", "w x: y", "0: x", "é: x", "x: é ü",
	"A: \u00a0x", "B: \ufeffx", "C: \u0080", "D_: \u2028", "E: \uff0c", "F: \uffff", "G: \U0001f600", "H: a\tb", "I: \"a\tb\"", "J: a\x7f", "K_: \"\"", "L: ''", "M: \"", "N: '",
	"O: \"a\" b", "P: \"a\\nb\"", "Q: 'it''s'", "R: 'a: # b'", "S: \"- a\"", "T: \"a\" # c", "U: - a", "V: -1", "W: .5", "X: .inf", "Y: ...", "Z: (x", "aa: /x/y", "ab: [a]", "ac: {a: b}", "ad: *x",
	"ae: &x y", "af: !t y", "ag: %x", "ah: @x", "ai: `x`", "aj: ?x", "ak: :x", "al: ,x", "am: =", "an: <<", "ao: |", "ap: >", "aq: |+", "ar: |2", "as: | # c",
	"at: |\nK  text", "au: |-\nK  text\nK  more", "av: |-\nK  text\n\nK    deeper\nK   \n\n", "aw: |\nK  a\nK b", "ax: |\nKb", "ay: |\n\nK  a", "az: |-\nK  \ta", "ba: |-\nK  a\nK \tb",
	"bb: |-\nK  a\nK    \nK  \nK \n\nK  b\n\n\n", "bc: |\nK  - a\nK  b: c\nK  # d", "bd: |-\nK  a\n# comment\n", "be: |-\nK  a\n\t\n", "bf: |-\nK  a\r", "bg: |\nK a\nK  b", "bh: |-\nK  a\nK  \t",
	"bi: a\nK  b", "bj: \"a\nK b\"", "bk: a\n\n", "bl: a\n# c", "bm:\nK  n: o", "bn:\nK- x", "a: again", "bo: " + strings.Repeat("x", 2000), strings.Repeat("y", 200) + ": x", "bp: |-\nK  a\n ", "bq: |-\nK  a\nK  \n  ",
}

// TestParseLog tries logs of random members, most of them plain.
func TestParseLog(t *testing.T) {
	fast, slow := 0, 0
	var good []string // can be read by themselves, by the reader or by the parser
	for _, piece := range plainPieces {
		if parsesBothWays(t, []byte("entries:\n- a\n- "+strings.ReplaceAll(piece, "\nK", "\n  ")+"\n")) {
			good = append(good, piece)
		}
	}
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		dash := strings.Repeat(" ", r.IntN(5))
		expand := strings.NewReplacer("\nK", "\n"+dash+"  ", "D- ", dash+"- ", "D ", dash+" ")
		var b strings.Builder
		b.WriteString(smalltest.Pick(r, []string{"", "owner: agent\n", "# c\n", "\ufeff", "---\n", "a: |\n entries:\n"}) + "entries:\n" + dash + "- first: 1\n")
		for range r.IntN(6) {
			if r.IntN(8) == 0 {
				b.WriteString(expand.Replace(smalltest.Pick(r, smalltest.LogPieces)))
				continue
			}
			lead := "- "
			for range 1 + r.IntN(4) {
				piece := smalltest.Pick(r, good)
				if r.IntN(20) == 0 {
					piece = smalltest.Pick(r, plainPieces)
				}
				b.WriteString(dash + lead + expand.Replace(piece) + "\n")
				lead = "  "
			}
		}
		if parsesBothWays(t, []byte(b.String())) {
			fast++
		} else {
			slow++
		}
	}
	t.Logf("%d texts read in parts, %d not", fast, slow)
	if fast < int(*smalltest.Cases)/4 || slow < int(*smalltest.Cases)/20 {
		t.Error("the texts do not try both ways")
	}
}

// TestPlainReader: entries as programs write them are read without the parser.
func TestPlainReader(t *testing.T) {
	const entry = "    - command: go test ./x -run 'a b'\n      evidence: |-\n        === RUN\n\n          ok\tx: 1 # no\n      notes: \"\"\n      replayId: 3f3f\n      task_id: 'task-1'\n      timestamp: \"2026-01-01T00:00:00Z\"\n"
	for dash, text := range map[string]string{"    - ": entry + entry, "  - ": smalltest.LogEntry(1) + smalltest.LogEntry(2)} {
		r := newPlainReader(text, dash, 7)
		for i := range 2 {
			item := r.readItem()
			if item == nil {
				t.Fatalf("item %d is not read: %q", i+1, r.text[r.offset:])
			}
			if i == 0 && (item.Pos != Pos{7, len(dash) + 1} || item.Get("replayId") == nil) {
				t.Errorf("%v %s", item.Pos, item.Canonical())
			}
		}
		if r.offset != len(text) {
			t.Errorf("%q is left", text[r.offset:])
		}
	}
}
