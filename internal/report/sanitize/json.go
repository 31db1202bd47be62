package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// JSON appends a document, indented by two spaces, and a newline. What a terminal
// or a CI system would obey is escaped. The document stays the same: such
// characters stand only inside its strings.
func JSON(buf *bytes.Buffer, doc any) error {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
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
