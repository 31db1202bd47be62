package reporttest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unsafe says what is wrong with the first line that a terminal or a CI system would obey; empty if there is none.
func Unsafe(out string) string {
	if !utf8.ValidString(out) {
		return "the output is not UTF-8"
	}
	for _, line := range strings.Split(out, "\n") {
		for _, r := range line {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
				return fmt.Sprintf("%U in %q", r, line)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return fmt.Sprintf("a command at the beginning of %q", line)
		}
		if oldCommand.MatchString(line) {
			return fmt.Sprintf("a command inside %q", line)
		}
	}
	return ""
}

var oldCommand = regexp.MustCompile(`##[A-Za-z]*\[`)

// Texts are harmful unless escaped.
var Texts = []string{
	"", " ", ":", "::", " ::error::x", "\t::error::x", "\u00a0::error::x", "\u3000\u2003::set-output name=x::y", ":\ufe0f:error::", "\ufe0f::x",
	"#", "##", "##[error]x", "x ##[group]y", "###[x]", "##vso[task.setvariable variable=x]y", "##teamcity[x]", "#\ufe0f#[x]", "##\n[", "##\u200b[x]",
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u009b31m", "a\rb", "a\nb", "a\r\nb", "\x00", "\x7f", "\b\b\b", "\v\f",
	"\u202eevil\u202c", "\u2066x\u2069", "\u200b\u200d\ufeff", "a\u2028b\u2029c", "\u0085", "\u00ad", "\U000e0041", "\ue000", "\ufdd0",
	"\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80", "a\xffb", "section_start:1:x\r\x1b[0K",
	"Grüße, 世界, 👩\u200d💻, ⚠️, हिन्दी, e\u0301", "C:\\new\\table", `"quoted"`, "a very " + strings.Repeat("long ", 60) + "text",
}
