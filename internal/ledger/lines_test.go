package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// plainLines are the lines of a text, found in the simplest way.
func plainLines(text string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

// lineStock are lines as people and programs write them, and worse ones.
var lineStock = []string{`{"id":1,"x":2}`, `{"id":1,"x":3}`,
	"a", "b", `{"id": 1}`, " ", "\t", "\xff\xfe", "\x00", "a\x00b", "\ufeffa", "é", "\r", "a\rb", "a\u2028b", "a\u0085b", "- x", "<<<<<<< HEAD", "\v", strings.Repeat("x", 300),
}

func randomLines(random *rand.Rand, n int) []string {
	out := make([]string, random.IntN(n+1))
	for i := range out {
		out[i] = lineStock[random.IntN(len(lineStock))]
		if random.IntN(2) == 0 {
			out[i] += fmt.Sprint(random.IntN(50))
		}
		if strings.HasSuffix(out[i], "\r") {
			out[i] += "." // otherwise it would be part of a line end
		}
	}
	return out
}

// writeLines writes lines with line ends of either kind, empty lines between them, and perhaps no end after the last.
func writeLines(random *rand.Rand, lines []string) string {
	var out strings.Builder
	ends := []string{"\n", "\r\n", "\n\n", "\n\r\n"}
	for i, line := range lines {
		out.WriteString(line)
		if i < len(lines)-1 || random.IntN(3) > 0 {
			out.WriteString(ends[random.IntN(len(ends))])
		}
	}
	return out.String()
}

func readLines(t testing.TB, text string) *Log {
	t.Helper()
	l, problems := new(Form).Read([]byte(text))
	if l == nil {
		t.Fatalf("%q: %v", text, problems)
	}
	return l
}

// TestLines changes random logs in one place, and demands that only appending to them is an append.
func TestLines(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(gittest.Seed(seed), 1))
		lines := randomLines(random, 8)
		text := writeLines(random, lines)
		before := readLines(t, text)
		checkLines(t, []byte(text))
		if again := readLines(t, writeLines(random, lines)); again.Head() != before.Head() {
			t.Fatalf("%q: other line ends make another log", text)
		}
		if longer := readLines(t, writeLines(random, append(slices.Clone(lines), randomLines(random, 4)...))); !longer.Extends(before.Ledger) {
			t.Fatalf("%q: appending is no append", text)
		}
		if len(lines) == 0 {
			continue
		}
		changed := slices.Clone(lines)
		at, other := random.IntN(len(lines)), random.IntN(len(lines))
		switch random.IntN(5) {
		case 0:
			changed = slices.Delete(changed, at, at+1)
		case 1:
			changed[at] += "~"
		case 2:
			changed = slices.Insert(changed, at, "new")
		case 3:
			changed[at], changed[other] = changed[other], changed[at]
		case 4:
			changed[0] = "\ufeff" + changed[0]
		}
		changed = append(changed, randomLines(random, 2)...)
		was, is := plainLines(strings.Join(lines, "\n")), plainLines(strings.Join(changed, "\n"))
		isAppend := len(is) >= len(was) && slices.Equal(is[:len(was)], was)
		now := readLines(t, writeLines(random, changed))
		if now.Extends(before.Ledger) != isAppend {
			t.Fatalf("%q -> %q: an append: %v", lines, changed, !isAppend)
		}
		compared, err := Compare(before.Ledger, now.Ledger, CompareOptions{OldRecords: linesIn(lines), NewRecords: linesIn(changed)})
		if err != nil {
			t.Fatal(err)
		}
		if found := len(compared.Edits)+len(compared.Inserted) > 0; found == isAppend {
			t.Fatalf("%q -> %q: %+v", lines, changed, compared)
		}
	}
}

func linesIn(lines []string) RecordsFunc {
	return func() ([]*small.Value, error) { return new(Form).Values([]byte(strings.Join(lines, "\n"))), nil }
}

// checkLines reads a text in every way there is, as lines that are compared whole and by a key.
func checkLines(t testing.TB, text []byte) {
	t.Helper()
	checkLinesOf(t, new(Form), text)
	checkLinesOf(t, &Form{Only: []string{"id"}}, text)
}

func checkLinesOf(t testing.TB, form *Form, text []byte) {
	t.Helper()
	whole, _ := form.Read(text)
	if whole == nil {
		return
	}
	values := form.Values(text)
	want := plainLines(string(text))
	if len(want) != whole.Len() || len(values) != whole.Len() {
		t.Fatalf("%q: %d lines, %d entries, %d values", text, len(want), whole.Len(), len(values))
	}
	split := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	for i, e := range whole.Entries {
		if strings.TrimSuffix(split[e.Pos.Line-1], "\r") != want[i] || values[i].Pos != e.Pos || e.Index != i {
			t.Fatalf("%q: entry %d is at line %d", text, i, e.Pos.Line)
		}
	}
	for at := 0; at <= len(text); at += 1 + len(text)/12 {
		start, _ := form.Read(text[:at])
		if start == nil {
			continue
		}
		if longer, _ := start.Extend(text[:at], text, small.Limits{}); !sameLines(whole, longer) {
			t.Fatalf("%q after %q (-read +extended):\n%s", text, text[:at], diffLogs(whole, longer))
		}
		if earlier := whole.ReadEarlier(text, text[:at]); earlier != nil && !sameLines(start, earlier) {
			t.Fatalf("%q before %q (-read +before):\n%s", text[:at], text, diffLogs(start, earlier))
		}
		if fork := slices.Concat(text[:at], []byte("fork")); at > 0 {
			got, _ := whole.Extend(text, fork, small.Limits{})
			want, _ := form.Read(fork)
			if !sameLines(want, got) {
				t.Fatalf("%q after %q (-read +extended):\n%s", fork, text, diffLogs(want, got))
			}
		}
	}
	if again, _ := form.Read(text); !sameLines(whole, again) {
		t.Fatalf("%q: reading others changed it", text)
	}
}

// sameLines reports whether two logs are equal in all that a reader keeps.
func sameLines(a, b *Log) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Head() == b.Head() && a.size == b.size && a.lines == b.lines && a.byLine != nil && b.byLine != nil &&
		slices.EqualFunc(a.Entries, b.Entries, func(x, y Entry) bool {
			return x.Index == y.Index && x.Pos == y.Pos && x.Digest == y.Digest && x.Whole == y.Whole && x.Noun == y.Noun
		})
}

// TestLinesOfAPointer turns a log into a Git LFS pointer, which no way of reading may take for lines.
func TestLinesOfAPointer(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 12\n"
	if l, problems := new(Form).Read([]byte(pointer)); l != nil || len(problems) == 0 {
		t.Error("a pointer is read as lines")
	}
	empty := readLines(t, "")
	if l, problems := empty.Extend(nil, []byte(pointer), small.Limits{}); l != nil || len(problems) == 0 {
		t.Error("a pointer after an empty log is read as lines")
	}
	long := pointer + strings.Repeat("line\n", 300)
	if l := readLines(t, long).ReadEarlier([]byte(long), []byte(pointer)); l != nil {
		t.Error("a pointer before a longer log is read as lines")
	}
}

// TestLongLine: a line of 30 MB is one entry, which keeps no text. Reports shorten it.
func TestLongLine(t *testing.T) {
	gittest.Long(t)
	long := strings.Repeat("0123456789abcde\xff", 30<<20/16)
	before := readLines(t, "a\n"+long+"\nb\n")
	after := readLines(t, "a\n"+long+"!\nb\nc\n")
	compared, err := Compare(before.Ledger, after.Ledger, CompareOptions{
		OldRecords: linesIn([]string{"a", long, "b"}), NewRecords: linesIn([]string{"a", long + "!", "b", "c"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	edits := compared.OfKind(EditModified)
	if len(edits) != 1 || len(edits[0].Changes) != 1 {
		t.Fatalf("%d edits", len(edits))
	}
	if c := edits[0].Changes[0]; c.From == c.To {
		t.Error("the two versions are told alike")
	}
	if size := before.Entries[1].TextBytes(); size > 1000 {
		t.Errorf("the entry keeps %d bytes", size)
	}
}

// TestVisibleText: bytes that are not UTF-8 are shown differently from each other and from other texts.
func TestVisibleText(t *testing.T) {
	seen := map[string]string{}
	for _, line := range []string{"\xff", "\xfe", "é", "e", "a\xffb", "\ufffd", "\x00"} {
		text := new(Form).Values([]byte(line))[0].Text
		if other, known := seen[text]; known {
			t.Errorf("%q and %q are both told as %q", other, line, text)
		}
		seen[text] = line
	}
}

// TestItems changes the order of keys, quotes and line ends, which does not count as a change, and then one value, which does.
func TestItems(t *testing.T) {
	read := func(text string, isJSON bool, at string) *Log {
		t.Helper()
		items, problems := small.ParseItems([]byte(text), isJSON, at, small.Limits{})
		if items == nil {
			t.Fatalf("%q: %v", text, problems)
		}
		return new(Form).LogOfItems(items)
	}
	want := read("log:\n  of:\n  - {a: 1, b: \"x\"}\n  - [y]\n  - z\n", false, "log.of")
	for _, same := range []string{
		"log:\r\n  of:\r\n  - b: x\r\n    a: 1\r\n  - - y\r\n  - 'z'\r\n", "\ufefflog: {of: [{a: 1, b: x}, [y], z]}", "log:\n  of:\n  - &a {b: x, a: 1}\n  - [y] # c\n  - z",
	} {
		if got := read(same, false, "log.of"); got.Head() != want.Head() {
			t.Errorf("%q is another log", same)
		}
	}
	if got := read(`{"log": {"of": [{"b": "x", "a": 1}, ["y"], "z"]}}`, true, "log.of"); got.Head() != want.Head() {
		t.Error("JSON is another log")
	}
	if got := read(`[{"b": "x", "a": 1}, ["y"], "z"]`, true, ""); got.Head() != want.Head() {
		t.Error("a JSON list is another log")
	}
	if got := read("- {a: 1, b: x}\n- [y]\n- z\n- more\n", false, ""); !got.Extends(want.Ledger) {
		t.Error("appending is no append")
	}
	for _, other := range []string{
		"- {a: 1, b: x }\n- [y]\n- z z\n", "- {a: 1.0, b: x}\n- [y]\n- z\n", "- {a: '1', b: x}\n- [y]\n- z\n", "- [y]\n- {a: 1, b: x}\n- z\n", "- {a: 1, b: x}\n- z\n", "- {a: 1, b: x}\n- [y]\n- new\n- z\n",
		"- {a: 1, b: x, c: ~}\n- [y]\n- z\n",
	} {
		if got := read(other, false, ""); got.Extends(want.Ledger) && other != "- {a: 1.0, b: x}\n- [y]\n- z\n" {
			t.Errorf("%q is taken for an append", other)
		}
	}
}

// FuzzLines demands that every way of reading lines gives the same.
func FuzzLines(f *testing.F) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		f.Add([]byte(writeLines(random, randomLines(random, 6))))
	}
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\n" + strings.Repeat("x", 1000) + "\ny\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkLines(t, text) })
}

// FuzzItems demands that lists are read without a crash, the same each time, and that appending to one is an append.
func FuzzItems(f *testing.F) {
	for _, text := range []string{"- a\n- {b: c}\n", "a:\n  b:\n  - x\n", "[1, 2.50, ~]", "a: {b: [&x y, *x]}", "- |\n  x\n-\n", "\ufeff- a\r\n", "- \xff\n", "- \x00\n", "--- \n- a\n--- \n- b\n", "a: {b: {}}"} {
		for _, isJSON := range []bool{false, true} {
			f.Add([]byte(text), isJSON, "")
			f.Add([]byte(text), isJSON, "a.b")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, isJSON bool, at string) {
		items, problems := small.ParseItems(text, isJSON, at, small.Limits{})
		if (items == nil) != (len(problems) > 0) {
			t.Fatalf("%q: %d items, %v", text, len(items), problems)
		}
		if items == nil {
			return
		}
		log := new(Form).LogOfItems(items)
		again, _ := small.ParseItems(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), isJSON, at, small.Limits{})
		if again == nil {
			return
		}
		if other := new(Form).LogOfItems(again); !bytes.Contains(text, []byte("\r")) && !cmp.Equal(other.Entries, log.Entries) {
			t.Fatalf("%q is read in two ways", text)
		}
		if at == "" && !isJSON && bytes.HasPrefix(text, []byte("- ")) {
			longer, _ := small.ParseItems(slices.Concat(text, []byte("\n- more\n")), false, "", small.Limits{})
			if longer != nil && !new(Form).LogOfItems(longer).Extends(log.Ledger) && !openEnded(text) {
				t.Fatalf("%q: appending is no append", text)
			}
		}
	})
}

// openEnded reports whether a text's last item may continue in what is appended: a block scalar keeps line ends, others fold them.
func openEnded(text []byte) bool {
	return bytes.ContainsAny(text, "|>\"'[{#&\\-\n\r\u0085\u2028\u2029") && bytes.Count(text, []byte("- ")) > 0 && !bytes.HasSuffix(text, []byte("\n")) || bytes.ContainsAny(text, "|>\"'\r\u0085\u2028\u2029")
}

// TestLinesPairByWords replaces what stands between two lines: an entry that shares half of its words with an old one is its new version, any
// other is a new one.
func TestLinesPairByWords(t *testing.T) {
	const old = "{\"id\":2,\"text\":\"can read\"}\n"
	const inserted = EditKind(-1) // stands for a new entry
	for lines, want := range map[string][]EditKind{
		"{\"id\":2,\"text\":\"cannot read\"}\n":     {EditModified},
		"{\"id\":2,\"text\":\"CAN read it now\"}\n": {EditModified},
		"an entry of somebody else about cats\n":    {EditDeleted, inserted},
		"---\n":                                     {EditDeleted, inserted},
		"id\n":                                      {EditDeleted, inserted},
		"id, can\n":                                 {EditModified}, // half of the words of both, exactly
		"about cats\n{\"id\":2,\"text\":\"cannot read\"}\n":       {EditModified, inserted},
		"{\"id\":2,\"text\":\"can\"}\n{\"id\":2,\"text\":\"\"}\n": {EditModified, inserted},
	} {
		before, after := "first\n"+old+"last\n", "first\n"+lines+"last\n"
		records := func(text string) RecordsFunc {
			return func() ([]*small.Value, error) { return (&Form{}).Values([]byte(text)), nil }
		}
		found, err := Compare(readLines(t, before).Ledger, readLines(t, after).Ledger, CompareOptions{OldRecords: records(before), NewRecords: records(after)})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []EditKind
		for _, e := range found.Edits {
			kinds = append(kinds, e.Kind)
		}
		for range found.Inserted {
			kinds = append(kinds, inserted)
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lines, diff)
		}
	}
}
