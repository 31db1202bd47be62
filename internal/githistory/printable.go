package githistory

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/wording"
)

// Printable is text for a message: control characters, characters that change
// the direction of text, and bytes that are not UTF-8 are written as escapes.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(c):
			b.WriteRune(c)
		default:
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}

// typed is an argument as one types it in a POSIX shell.
func typed(s string) string { return wording.ShellWord(Printable(s)) }
