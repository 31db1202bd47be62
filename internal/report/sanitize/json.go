package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// JSON appends a document, indented by two spaces, and a newline. It escapes characters that a terminal or a CI system would obey. They occur only inside
// of strings, so the document means the same.
func JSON(buf *bytes.Buffer, doc any) error { return encode(buf, doc, "  ") }

// JSONLine appends a document as one line.
func JSONLine(buf *bytes.Buffer, doc any) error { return encode(buf, doc, "") }

func encode(buf *bytes.Buffer, doc any, indent string) error {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	buf.WriteString(rewrite(plain.String(), `\u005b`, func(before, r rune) string {
		if r == '\n' || !isHidden(before, r) {
			return ""
		}
		text := ""
		for _, unit := range utf16.Encode([]rune{r}) {
			text += fmt.Sprintf(`\u%04x`, unit)
		}
		return text
	}))
	return nil
}
