package action

import (
	"encoding/json"
	"strings"
	"testing"
)

// An output is one line of ASCII in which nothing ends a line or opens a tag, and its meaning is preserved.
func TestASCIIJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "a\nb\r\x1b[2J\x7f", "</script>&", "\u202egnp.exe", "é ☃ \U0001F600", "\u2028", `"quoted" \\n`,
		"_GitHubActionsFileCommandDelimeter_\nverdict=pass",
	} {
		got := asciiJSON(map[string]string{text: text})
		for _, c := range got {
			if c < ' ' || c > '~' {
				t.Errorf("%q has %q in it", got, c)
			}
		}
		if strings.ContainsAny(got, "<>&") {
			t.Errorf("%q can be taken for HTML", got)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back[text] != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}
	}
}
