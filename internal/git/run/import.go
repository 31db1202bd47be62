package gitcmd

import (
	"fmt"
	"slices"
	"strings"
)

// ImportedPath is any path, quoted as git fast-import reads it.
func ImportedPath(path string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&out, `\%03o`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String() + `"`
}

// ImportedData is a text as git fast-import reads it.
func ImportedData(text []byte) []byte {
	return slices.Concat(fmt.Appendf(nil, "data %d\n", len(text)), text, []byte("\n"))
}
