package policy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// newWaiver is the waiver that the cases add.
func newWaiver(t testing.TB) Waiver {
	return Waiver{
		Edit: ledger.EntryChanged,
		Rule: "append-only/modified", Path: ".small/progress.small.yml", From: digest(t, "1"), To: digest(t, "2"),
		Reason: `a "key" was: taken out # yesterday`, Until: date(2026, 12, 31),
	}
}

func newBaseline(t testing.TB, path string) Baseline {
	return Baseline{Path: path, Entries: 7, Head: *digest(t, "3"), Reason: "adopted here"}
}

// TestEditCases makes the edit that the first word of each case of
// testdata/edit names (waiver, baseline and the paths, or log with its path, entries and at) and compares the
// text, or the error, with what the case says.
func TestEditCases(t *testing.T) {
	cases(t, "edit", func(t *testing.T, comment string, files map[string]string) (string, string) {
		op, _, _ := strings.Cut(comment, "\n")
		words := strings.Fields(op)
		var after []byte
		var err error
		switch words[0] {
		case "waiver":
			after, err = AddWaivers([]byte(files["before"]), []Waiver{newWaiver(t)}, knownRules)
		case "log":
			l := Log{Path: words[1], Entries: words[2], At: strings.Join(words[3:], "."), Since: strings.Repeat("0", 40)}
			after, err = AddLog([]byte(files["before"]), l, []string{l.Path}, knownRules)
		case "baseline":
			var list []Baseline
			for _, path := range words[1:] {
				list = append(list, newBaseline(t, path))
			}
			after, err = AddBaseline([]byte(files["before"]), list, knownRules)
		default:
			t.Fatalf("no such edit: %q", op)
		}
		if err != nil {
			f := failure.Of(err)
			return "error", f.Message + "; " + strings.TrimRight(f.Remedy, "\n") + "\n"
		}
		if words[0] != "baseline" {
			checkKept(t, files["before"], string(after))
		}
		return "after", string(after)
	})
}

// checkKept fails unless after is before with something inserted. The brackets
// of an empty list may be removed.
func checkKept(t testing.TB, before, after string) {
	t.Helper()
	drop := strings.NewReplacer("[", "", "]", "", " ", "")
	rest := drop.Replace(after)
	for i, c := range []byte(drop.Replace(before)) {
		j := strings.IndexByte(rest, c)
		if j < 0 {
			t.Fatalf("byte %d of the text before, %q, is gone:\n%s\n---\n%s", i, c, before, after)
		}
		rest = rest[j+1:]
	}
}

// TestAddKeepsBytes adds to texts whose line ends and white space a case file
// cannot show, and compares every byte.
func TestAddKeepsBytes(t *testing.T) {
	const item = "  - path: \".small/progress.small.yml\"\n    entries: 7\n" +
		"    head: \"sha256:3333333333333333333333333333333333333333333333333333333333333333\"\n    reason: \"adopted here\"\n"
	const key = "baseline:\n" + item
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct{ before, after string }{
		"no file":               {"", newFileText + key},
		"white space alone":     {" \n\n", newFileText + key},
		"no line end":           {"version: 1", "version: 1\n" + key},
		"comment at the end":    {"version: 1 # one", "version: 1 # one\n" + key},
		"blank lines":           {"version: 1\n\n\n", "version: 1\n\n\n" + key},
		"trailing blanks":       {"version: 1  \n  ", "version: 1  \n  \n" + key},
		"crlf":                  {"version: 1\r\n", "version: 1\r\n" + crlf(key)},
		"crlf, no line end":     {"version: 1\r\nstrict: true", "version: 1\r\nstrict: true\r\n" + crlf(key)},
		"crlf, empty list":      {"baseline: []\r\nversion: 1\r\n", crlf(key) + "version: 1\r\n"},
		"crlf, comment":         {"baseline: [] # none\r\nversion: 1\r\n", "baseline:  # none\r\n" + crlf(item) + "version: 1\r\n"},
		"empty list, blank":     {"baseline: [ ]\nversion: 1\n", key + "version: 1\n"},
		"empty list, no end":    {"version: 1\nbaseline: []", "version: 1\n" + key},
		"byte order mark":       {"\ufeffbaseline: []\nversion: 1\n", "\ufeff" + key + "version: 1\n"},
		"marks around":          {"---\nversion: 1\n...\n# end\n", "---\nversion: 1\n" + key + "...\n# end\n"},
		"indented keys":         {"  version: 1\n  strict: true\n", "  version: 1\n  strict: true\n" + "  " + strings.ReplaceAll(strings.TrimSuffix(key, "\n"), "\n", "\n  ") + "\n"},
		"tabs before a comment": {"version: 1\t# one\n", "version: 1\t# one\n" + key},
		"unicode line breaks":   {"version: 1 # a\u2028# b\u0085", "version: 1 # a\u2028# b\u0085\n" + key},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AddBaseline([]byte(c.before), []Baseline{newBaseline(t, ".small/progress.small.yml")}, knownRules)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileText writes reasons and paths that try to be something else in
// YAML, and reads them back.
func TestHostileText(t *testing.T) {
	texts := []string{
		`"`, `\`, `\"`, "a\nb", "a\r\nwaivers: []", "#", " # x", "'", "- x", "{a: b}", "[x]", "&a *a !!str", "%TAG",
		"\x00\x07\x1b[31m\x7f", "\u0085\u00a0\u2028\u2029\u202e\ufeff\ufffe", "🙂 größer", "null", "~", "true", "12", "2026-12-31",
		"---\n...\n", "<<: x", strings.Repeat("long ", 2000), "ends in \\", "tab\there", "<<<<<<< HEAD\n=======\n>>>>>>> x",
	}
	data := []byte{}
	var want []Waiver
	for i, text := range texts {
		w := newWaiver(t)
		w.Reason = "x" + text
		w.Path = fmt.Sprintf("%d/d%s/.small/progress.small.yml", i, strings.Trim(strings.NewReplacer(`\`, "", "/", "").Replace(text), "."))
		next, err := AddWaivers(data, []Waiver{w}, knownRules)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if bytes.IndexFunc(next, func(r rune) bool { return r != '\n' && r < ' ' || r == 0x7f || r == 0x202e }) >= 0 {
			t.Fatalf("%q: control characters in %q", text, next)
		}
		w.Edit = ledger.EntryChanged // as the rule's catalogue says
		data, want = next, append(want, w)
	}
	p, err := Parse(File, data, knownRules)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Waivers {
		p.Waivers[i].Pos = small.Pos{}
	}
	if diff := cmp.Diff(want, p.Waivers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefused checks that nothing is written that could not be read back, that
// is there already, or into a file that is not valid.
func TestRefused(t *testing.T) {
	good := newWaiver(t)
	for name, c := range map[string]struct {
		data   string
		change func(*Waiver)
		want   string
	}{
		"no reason":      {"", func(w *Waiver) { w.Reason = "\t" }, "cannot write the waiver: the reason is blank"},
		"not UTF-8":      {"", func(w *Waiver) { w.Reason = "a\xff" }, `"a\xff" is not UTF-8`},
		"path not UTF-8": {"", func(w *Waiver) { w.Path = "\xff/.small/progress.small.yml" }, "is not UTF-8"},
		"another path":   {"", func(w *Waiver) { w.Path = "README.md" }, "is not the path of a log"},
		"no rule":        {"", func(w *Waiver) { w.Rule = "" }, `there is no rule ""`},
		"hostile rule":   {"", func(w *Waiver) { w.Rule = "a/b\nwaivers: []" }, "there is no rule"},
		"no digests":     {"", func(w *Waiver) { w.From, w.To = nil, nil }, "the waiver names no edit"},
		"far future":     {"", func(w *Waiver) { w.Until = date(12026, 1, 1) }, "expected a day"},
		"invalid file":   {"version: 1\nstrickt: true\n", func(*Waiver) {}, `did you mean "strict"?`},
		"too large": {
			"version: 1\n#" + strings.Repeat("x", MaxSize-100) + "\n", func(*Waiver) {}, "it would grow beyond 1048576 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := good
			c.change(&w)
			got, err := AddWaivers([]byte(c.data), []Waiver{w}, knownRules)
			if err == nil || got != nil || !strings.Contains(failure.Of(err).Message, c.want) {
				t.Errorf("got %q, %v; want an error with %q", got, err, c.want)
			}
		})
	}
	data, err := AddWaivers(nil, []Waiver{good}, knownRules)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AddWaivers(data, []Waiver{good}, knownRules); err == nil || !strings.Contains(err.Error(), "line 6 of .small-gate.yml waives this edit already") {
		t.Errorf("the same waiver twice: %v", err)
	}
	for want, change := range map[string]func(*Baseline){
		"at least 1 is expected":                         func(b *Baseline) { b.Entries = 0 },
		"cannot write the baseline: the reason is blank": func(b *Baseline) { b.Reason = "" },
		"is not the path of a log":                       func(b *Baseline) { b.Path = "x" },
		`"x\xff/.small/progress.small.`:                  func(b *Baseline) { b.Path = "x\xff/.small/progress.small.yml" },
		"without . or ..; did you mean ":                 func(b *Baseline) { b.Path = "./.small/progress.small.yml" },
	} {
		b := newBaseline(t, ".small/progress.small.yml")
		change(&b)
		if _, err := AddBaseline(nil, []Baseline{b}, knownRules); err == nil || !strings.Contains(failure.Of(err).Message, want) {
			t.Errorf("got %v; want an error with %q", err, want)
		}
	}
}

// TestUntilIsADay checks that only the day of a waiver's end, in UTC, is written.
func TestUntilIsADay(t *testing.T) {
	w := newWaiver(t)
	w.Until = time.Date(2026, 12, 31, 23, 30, 0, 5, time.FixedZone("west", -3600))
	data, err := AddWaivers(nil, []Waiver{w}, knownRules)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte("until: 2027-01-01\n")) {
		t.Errorf("got\n%s", data)
	}
}

// TestNothingToAdd checks that adding no baseline changes nothing.
func TestNothingToAdd(t *testing.T) {
	got, err := AddBaseline([]byte("version: 1"), nil, knownRules)
	if err != nil || string(got) != "version: 1" {
		t.Errorf("got %q, %v", got, err)
	}
}

// refused reports whether an error says that a configuration cannot be edited.
func refused(err error) bool {
	return strings.HasPrefix(failure.Of(err).Message, File+" was not changed: ")
}

// TestEditError checks that what to write by hand can be written as it is.
func TestEditError(t *testing.T) {
	_, err := AddWaivers([]byte("{version: 1}\n"), []Waiver{newWaiver(t)}, knownRules)
	if !refused(err) {
		t.Fatalf("got %v", err)
	}
	stanza, found := strings.CutPrefix(failure.Of(err).Remedy, "add this item under \"waivers:\" by hand:\n")
	if !found {
		t.Fatalf("got %v", err)
	}
	p, err := Parse(File, []byte("version: 1\nwaivers:\n"+stanza), knownRules)
	if err != nil || len(p.Waivers) != 1 || p.Waivers[0].Reason != newWaiver(t).Reason {
		t.Errorf("got %v, %v from\n%s", p, err, stanza)
	}
}

// As many baselines as a repository has logs are written, and replaced, at a cost that grows with their number alone.
func TestAddManyBaselines(t *testing.T) {
	some := func(n, entries int) (out []Baseline) {
		for i := range n {
			b := newBaseline(t, fmt.Sprintf("%d/.small/progress.small.yml", i))
			b.Entries = entries
			out = append(out, b)
		}
		return out
	}
	cost := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			data, err := AddBaseline(nil, some(n, 1), knownRules)
			if err == nil {
				data, err = AddBaseline(data, some(n, 2), knownRules)
			}
			if err != nil || bytes.Count(data, []byte("entries: 2\n")) != n || bytes.Contains(data, []byte("entries: 1\n")) {
				t.Fatalf("%v\n%s", err, data)
			}
		})
	}
	if few, many := cost(20), cost(200); many > 12*few {
		t.Errorf("20 baselines take %.0f allocations, 200 take %.0f", few, many)
	}
}
