package sanitize

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func TestCompare(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	for _, tt := range []struct {
		name, from, to string
		want           []string
		note           string
	}{
		{"short", "in_progress", "completed", []string{"- in_progress", "+ completed"}, ""},
		{"whole where it fits", "ran 12 tests and read the whole of the docs", "ran 13 tests and read the whole of the docs",
			[]string{"- ran 12 tests and read the whole of the docs", "+ ran 13 tests and read the whole of the docs"}, ""},
		{"middle of a long text", long + "OLD" + long, long + "NEW" + long,
			[]string{"- …678901234567890123456789OLD012345678901234567890123…", "+ …678901234567890123456789NEW012345678901234567890123…"}, ""},
		{"end of a long text", long + "OLD", long + "NEW",
			[]string{"- …678901234567890123456789OLD", "+ …678901234567890123456789NEW"}, ""},
		{"cut off", long + "x", long, []string{"- …678901234567890123456789x", "+ …678901234567890123456789"}, ""},
		{"long difference", "a" + long, "b" + long + "c",
			[]string{"- a01234567890123456789012345678901234567890123456789012345678… 141 more characters",
				"+ b01234567890123456789012345678901234567890123456789012345678… 142 more characters"}, ""},
		{"one space", "a b", "a  b", []string{"- a·b", "+ a··b"}, "only white space differs; · is a space, \\t a tab, \\n a line break"},
		{"tabs", "\ta", "    a", []string{`- \ta`, "+ ····a"}, "only white space differs; · is a space, \\t a tab, \\n a line break"},
		{"final newline", "a", "a\n", []string{"- a", `+ a\n`}, "only white space differs; · is a space, \\t a tab, \\n a line break"},
		{"line endings", "a\nb", "a\r\nb", []string{`- a\nb`, `+ a\r\nb`}, "only white space differs; · is a space, \\t a tab, \\n a line break"},
		{"no-break space", "a b", "a\u00a0b", []string{"- a·b", `+ a\u00a0b`}, "only white space differs; · is a space, \\t a tab, \\n a line break"},
		{"zero width", "ab", "a\u200bb", []string{"- ab", `+ a\u200bb`}, "only invisible characters differ; · is a space, \\t a tab, \\n a line break"},
		{"selector", "⚠", "⚠\ufe0f", []string{"- ⚠", `+ ⚠\ufe0f`}, "only invisible characters differ; · is a space, \\t a tab, \\n a line break"},
		{"an escape and its like", `a\tb c`, "a\tb c", []string{`- a\\tb·c`, `+ a\tb·c`},
			"they look alike: every escape is spelt out; · is a space, \\t a tab, \\n a line break"},
		{"one line of several", "one\ntwo\nthree", "one\n2\nthree", []string{"- two", "+ 2"}, ""},
		{"a line more", "one\nthree", "one\ntwo\nthree", []string{"+ two"}, ""},
		{"a blank line among others", "one\ntwo\nthree", "one\n\nzwei\nthree", []string{"- two", "+ (empty)", "+ zwei"}, ""},
		{"many lines", "1\n2\n3\n4\n5\n6\n7", "a\nb", []string{"- 1", "- 2", "- 3", "- 4", "- … 5 more characters", "+ a", "+ b"}, ""},
		{"was empty", "", "x", []string{"+ x"}, "was empty"},
		{"is empty now", "(empty)", "", []string{"- (empty)"}, "is empty now"},
		{"blank", "", " \t", []string{`+ ·\t`}, "was empty"},
		{"letters of two scripts", "paypal", "p\u0430ypal", []string{"- paypal", "+ p\u0430ypal"}, "U+0061 became U+0430"},
		{"two ways to write an accent", "\u00e9", "e\u0301", []string{"- \u00e9", "+ e\u0301"}, "U+00E9 became U+0065 U+0301"},
		{"letters with the same first byte", "é", "ê", []string{"- é", "+ ê"}, "U+00E9 became U+00EA"},
		{"letters with the same last byte", "é", "ĩ", []string{"- é", "+ ĩ"}, "U+00E9 became U+0129"},
		{"an accent more", "e", "e\u0301", []string{"- e", "+ e\u0301"}, "added: U+0301"},
		{"another type", "1", "1", []string{"- 1", "+ 1"}, "the text is the same, the type of the value is not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Compare(tt.from, tt.to, 60)
			if diff := cmp.Diff(tt.want, signed(d)); diff != "" {
				t.Errorf("lines differ (-want +got):\n%s", diff)
			}
			if d.Note != tt.note {
				t.Errorf("note = %q, want %q", d.Note, tt.note)
			}
		})
	}
}

func signed(d Difference) []string {
	var out []string
	for _, line := range d.Removed {
		out = append(out, "- "+line)
	}
	for _, line := range d.Added {
		out = append(out, "+ "+line)
	}
	return out
}

// Every difference is visible, in a bounded number of safe lines.
func FuzzCompare(f *testing.F) {
	for i, s := range reporttest.Texts {
		f.Add(s, reporttest.Texts[(i+1)%len(reporttest.Texts)])
		f.Add(s, s+" ")
		f.Add(s, strings.ToUpper(s))
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		d := Compare(from, to, 40)
		if from != to && slices.Equal(d.Removed, d.Added) {
			t.Errorf("%q and %q both look like %q", from, to, d.Removed)
		}
		for _, line := range append(d.Removed, d.Added...) {
			if fault := reporttest.Unsafe("- " + line); fault != "" {
				t.Error(fault)
			}
		}
		if n := len(d.Removed) + len(d.Added); n > 2*(MaxLines+1) {
			t.Errorf("%d lines", n)
		}
	})
}
