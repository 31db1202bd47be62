package small

import (
	"strings"
	"testing"
)

// TestUnicodeLineBreaks: a file that says one thing to YAML 1.1 and another to
// YAML 1.2 is not read, whichever of the two the parser follows.
func TestUnicodeLineBreaks(t *testing.T) {
	const log = "entries:\n  - task_id: a\n    evidence: done\n"
	for name, text := range map[string]string{
		"an entry in a comment":       "entries:\n  # struck out:X  - task_id: a\n  # X    evidence: done\n",
		"a field in a comment":        strings.Replace(log, "    evidence", "    # struck out:X    evidence", 1),
		"a comment behind text":       strings.Replace(log, "done", "doneX# never happened", 1),
		"all lines":                   strings.ReplaceAll(log, "\n", "X"),
		"a line of text":              strings.Replace(log, "done", "|X      doneX", 1),
		"a comment that only goes on": log + "# a commentX# and more of it\n",
	} {
		for _, c := range unicodeBreaks {
			text := strings.ReplaceAll(text, "X", c)
			doc, problems := Parse([]byte(text), Limits{})
			if strings.HasPrefix(name, "a comment that only") {
				if doc == nil {
					t.Errorf("%s, %q: %v", name, text, problems)
				}
				continue
			}
			if doc != nil || problems[0].Kind != ProblemYAML {
				t.Errorf("%s, %q: read as %s", name, text, appendCanonical(nil, doc.Root))
			}
			list := strings.TrimPrefix(text, "entries:\n") // the document is the list
			if items, problems := ParseItems([]byte(list), false, "", Limits{}); problems == nil {
				t.Errorf("%s, %q: read as %d items", name, list, len(items))
			}
		}
	}

	// In a quoted text they are part of it for both, and so they are if only
	// their escape is written.
	for _, text := range []string{"a: \"x\u2028y\"\n", "a: 'x\u2029y'\n", "a: \"x\\u2028y\\x85\"\n", "a: \"x\u2028y\"\nb: \"\u0250\ue000\"\n", "a: \"\u2028\u2029\ue001\u2029\"\n"} {
		if _, problems := Parse([]byte(text), Limits{}); problems != nil {
			t.Errorf("%q: %v", text, problems)
		}
	}
	_, problems := Parse([]byte("a: 1\nbé: 2 #\u2028c: 3\n"), Limits{})
	if got := says(problems[0]); !strings.HasPrefix(got, "yaml 2:8 ") || !strings.Contains(got, "U+2028") {
		t.Error(got)
	}
}
