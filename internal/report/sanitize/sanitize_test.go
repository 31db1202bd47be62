package sanitize

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain text: 50 % of [this], a\\b", "plain text: 50 % of [this], a\\b"},
		{"Grüße, 世界, ⚠️, e\u0301, \u3000", "Grüße, 世界, ⚠️, e\u0301, \u3000"},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"\x1b[31m\x00\x7f", `\x1b[31m\x00\x7f`},
		{"\u009b\u0085", `\u009b\u0085`},
		{"\u202a\u202e\u2066\u2069\u200e", `\u202a\u202e\u2066\u2069\u200e`},
		{"\u200b\u200d\ufeff\u2060\u00ad\u034f\u3164", `\u200b\u200d\ufeff\u2060\u00ad\u034f\u3164`},
		{"\u2028\u2029", `\u2028\u2029`},
		{"\U000e0041\U000e0101\ue000", `\U000e0041\U000e0101\ue000`},
		{"\xff\xc3a\xed\xa0\x80", `\xff\xc3a\xed\xa0\x80`},
		{"\ufffd", "\ufffd"},
		{"::error::x", `\::error::x`},
		{"  ::error::x", `\  ::error::x`},
		{"\u00a0::x", "\\\u00a0::x"},
		{"\n::x", `\n::x`},
		{":\ufe0f:x", `:\ufe0f:x`},
		{"⚠\ufe0f\ufe0f\ufe0e", "⚠\ufe0f" + `\ufe0f\ufe0e`},
		{"a ::x", "a ::x"},
		{"x ##[error]y", `x ##\[error]y`},
		{"###[x", `###\[x`},
		{"##vso[x]##TeamCity[y]", `##vso\[x]##TeamCity\[y]`},
		{"## [x] #[y] ##1[z]", "## [x] #[y] ##1[z]"},
		{"#\ufe0f#[x", `#\ufe0f#[x`},
	} {
		got := Line(tt.in)
		if got != tt.want {
			t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if fault := reporttest.Unsafe(got); fault != "" {
			t.Errorf("Line(%q): %s", tt.in, fault)
		}
		if again := Line(got); again != got && !strings.Contains(tt.in, "##") {
			t.Errorf("Line twice of %q = %q, once = %q", tt.in, again, got)
		}
	}
}
