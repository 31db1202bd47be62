package history

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLastAgent reads the agent of several trailers as the hook's git prints
// them: the last one counts, and one without a value names nobody.
func TestLastAgent(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"":                   "",
		"Signed-off-by: A\n": "",
		"Small-Agent: a\nsmall-agent: b\nSigned-off-by: A\n": "b",
		"Small-Agent: b\nSmall-Agent: a\nSmall-Agent:\n":     "a",
	} {
		if got := LastAgent(lines); got != want {
			t.Errorf("%q: %q instead of %q", lines, got, want)
		}
	}
}

// TestTrailers compares what is taken for a trailer with git.
func TestTrailers(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"",
		"title\n",
		"Small-Agent: title\n",
		"title\n\nSmall-Agent: a\n",
		"title\n\nbody\n\nSmall-Agent: a\nCo-authored-by: B <b@example.com>\n\n\n",
		"title\n\nbody\nSmall-Agent: a\n",
		"title\n\nSmall-Agent: a\n\nbody\n",
		"title\n\none\ntwo\nSmall-Agent: a\nSigned-off-by: X <x@example.com>\n",
		"title\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\nSigned-off-by: X <x@example.com>\n",
		"title\n\nbody\n(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)\nSmall-Agent: a\n",
		"title\n\nSmall-Agent : a\nEmpty:\n",
		"title\n\nSmall-Agent: a\n  goes on\nOther: b\n",
		"title\n\nCo-authored-by:\n  Claude <c@example.com>\n",
		"title\n\nCo-authored-by: \n\tClaude\n   <c@example.com>\n\t\nSmall-Agent: a\n",
		"title\n\n  goes on\nOther: b\n",
		"title\n\nhttps://example.com/x\nOther: b\n",
		"title\n\nWith space: b\n",
		"title\n\n* one\n\nSmall-Agent: a\n\n* two\n\nSmall-Agent: b\n",
		"title\r\n\r\nSmall-Agent: a\r\n",
		"\n\ntitle\n\nSmall-Agent: a\n",
		"title\n \t\nSmall-Agent: a\n",
		"title\n\n---\n\nSmall-Agent: a\n",
		"title\n\nSmall-Agent: a\n: nothing\n",
		"title\n\n# comment\nSmall-Agent: a\n",
		"title\n\nSmall-Agent: a\n\n# comment\n",
		"# comment\n\ntitle\n\nSmall-Agent: a\n# comment\n  goes on\n",
		"title\n\none\ntwo\nthree\nfour\nfive\n(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)\nSmall-Agent: a\n",
		"title\n\nSigned-off-by: X <x@example.com>\nSmall-Agent: a\nbody\n  goes on\n",
	} {
		cmd := exec.Command("git", "interpret-trailers", "--parse", "--no-divider")
		cmd.Stdin = strings.NewReader(message)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(string(out)) {
			want = append(want, strings.TrimRight(line, " \r\n"))
		}
		var got []string
		for _, trailer := range TrailersOf(message) {
			got = append(got, strings.TrimRight(fmt.Sprintf("%s: %s", trailer.Name, trailer.Value), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-git +here)\n%s", message, diff)
		}
	}
}
