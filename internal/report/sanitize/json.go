package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON appends a document, indented by two spaces, and a newline. What a terminal
// or a CI system would obey is escaped inside its strings.
func JSON(buf *bytes.Buffer, doc any) error {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	escapeJSON(buf, plain.Bytes())
	return nil
}

// escapeJSON copies a JSON document and escapes hidden characters and commands.
// Its values stay the same: none of these characters can stand outside a string.
func escapeJSON(dst *bytes.Buffer, src []byte) {
	dst.Grow(len(src))
	for i, before := 0, rune(0); i < len(src); {
		r, n := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(src[i:])
		}
		switch {
		case r == '[' && endsInHashes(dst.Bytes()):
			dst.WriteString(`\u005b`)
		case r != '\n' && isHidden(before, r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(dst, `\u%04x`, unit)
			}
		default:
			dst.Write(src[i : i+n])
		}
		before = r
		i += n
	}
}
