package policy

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/small-gate/small-gate/internal/small"
)

// seeds returns the first file of every case of the named directories.
func seeds(f *testing.F, dirs ...string) [][]byte {
	f.Helper()
	var out [][]byte
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no cases in testdata/%s: %v", dir, err)
		}
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			out = append(out, archive.Files[0].Data)
		}
	}
	return out
}

// FuzzParse demands that any bytes are either read or refused with places and in
// printable words, and that what is read means the same when it is written out
// and read again.
func FuzzParse(f *testing.F) {
	for _, data := range seeds(f, "parse", "edit") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("HEAD", data, knownRules)
		if err != nil {
			checkInvalid(t, err)
			return
		}
		again, err := Parse("HEAD", render(t, p), knownRules)
		if err != nil {
			t.Fatalf("written out, it is refused: %v\n%s", err, render(t, p))
		}
		if !equal(p, again) {
			t.Fatalf("written out, it says something else:\n%s\n%s", render(t, p), render(t, again))
		}
	})
}

func checkInvalid(t *testing.T, err error) {
	t.Helper()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
		t.Fatalf("%T without problems: %v", err, err)
	}
	for i, p := range invalid.Problems {
		if p.Pos.Line < 1 || p.Pos.Column < 1 || p.Message == "" {
			t.Fatalf("problem without a place or words: %+v", p)
		}
		if i > 0 && before(p.Pos, invalid.Problems[i-1].Pos) {
			t.Fatalf("problem %d is out of order: %v", i, invalid.Problems)
		}
	}
	text := err.Error()
	if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || len(text) > 64<<10 {
		t.Fatalf("%d bytes, or not printable: %q", len(text), text)
	}
}

func before(a, b small.Pos) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// FuzzAddWaiver demands that a waiver is added to any valid configuration in a
// way that keeps every byte and reads back as what was there plus the waiver,
// or that nothing is written.
func FuzzAddWaiver(f *testing.F) {
	for _, data := range seeds(f, "edit", "parse") {
		f.Add(data, "", "a reason", int64(20818), true)
	}
	f.Add([]byte("version: 1\r\nwaivers: [ ]\r\n"), "a/b", "\"\n# \x00\u2028", int64(0), false)
	f.Fuzz(func(t *testing.T, data []byte, dir, reason string, day int64, both bool) {
		w := Waiver{
			Rule: "append-only/deleted", Path: small.Progress.Path(dir), From: digest(t, "1"), Reason: reason,
		}
		if both {
			w.Rule, w.To = "append-only/modified", digest(t, "2")
		}
		if day > 0 && day < 2_000_000 {
			w.Until = time.Unix(day*24*3600, 0).UTC()
		}
		after, err := AddWaivers(data, []Waiver{w}, knownRules)
		if err != nil {
			if after != nil {
				t.Fatalf("an error and a text: %v\n%s", err, after)
			}
			return
		}
		text := string(data)
		if strings.TrimSpace(text) == "" {
			text = newFileText
		}
		checkKept(t, text, string(after))
		old, err := Parse("HEAD", []byte(text), knownRules)
		if err != nil {
			t.Fatalf("added to an invalid configuration: %v", err)
		}
		got, err := Parse("HEAD", after, knownRules)
		if err != nil {
			t.Fatalf("the result is invalid: %v", err)
		}
		old.Waivers = append(old.Waivers, w)
		if !equal(got, old) {
			t.Fatalf("the result is not what was there plus the waiver:\n%s", after)
		}
		if _, err := AddWaivers(after, []Waiver{w}, knownRules); err == nil {
			t.Fatal("the same waiver was added twice")
		}
		checkBaseline(t, after, dir)
	})
}

// checkBaseline adds a baseline and replaces it.
func checkBaseline(t *testing.T, data []byte, dir string) {
	t.Helper()
	b := newBaseline(t, small.Progress.Path(dir))
	first, err := AddBaseline(data, []Baseline{b}, knownRules)
	if err != nil {
		if !refused(err) {
			t.Fatalf("a waiver was taken, a baseline is not: %v", err)
		}
		return
	}
	b.Entries, b.Reason = 8, "again"
	second, err := AddBaseline(first, []Baseline{b}, knownRules)
	if err != nil {
		if !refused(err) {
			t.Fatalf("the baseline cannot be replaced: %v\n%s", err, first)
		}
		return
	}
	p, err := Parse("HEAD", second, knownRules)
	if err != nil {
		t.Fatal(err)
	}
	got := p.BaselineFor(b.Path)
	if got == nil || got.Entries != 8 || got.Reason != "again" {
		t.Fatalf("got %+v from\n%s", got, second)
	}
}
