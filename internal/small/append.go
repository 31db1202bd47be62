package small

import (
	"bytes"
)

// ReadableAlone reports whether what follows a text can be read without it:
// it ends with a line feed, and in no other kind of line break, which could
// hide the end of a document.
func ReadableAlone(data []byte) bool {
	return bytes.HasSuffix(data, []byte("\n")) && !hasOddBreak(data)
}

// HasMarker reports whether a line begins as a document end marker, after
// which nothing belongs to the document, or as a directive.
func HasMarker(data []byte) bool {
	for _, marker := range []string{"...", "%"} {
		if bytes.HasPrefix(data, []byte(marker)) || bytes.Contains(data, []byte("\n"+marker)) {
			return true
		}
	}
	return false
}

// CountLines counts line feeds.
func CountLines(data []byte) int { return bytes.Count(data, []byte{'\n'}) }

// hasOddBreak reports whether a line ends other than in LF or CR LF.
func hasOddBreak(data []byte) bool {
	if bytes.Count(data, []byte{'\r'}) != bytes.Count(data, []byte("\r\n")) {
		return true
	}
	return hasUnicodeBreak(data)
}
