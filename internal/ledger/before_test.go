package ledger_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// logTexts are logs in several styles.
var logTexts = map[string]string{
	"plain":      "small_version: \"1.0.0\"\nentries:\n  - a: 1\n    b: x\n  - a: 2\n  # between\n  - a: 3\n",
	"indentless": "entries:\n- a: 1\n- a: 2\n-\n- a: 3\n-   \n  a: 4\n- a: 5\n",
	"scalars":    "entries:\n  - a: |+\n      text\n\n  - a: >\n      folded\n\n      more\n\n  - plain\n  - \"quoted\n      on\"\n  - - nested\n    - - list\n  - a: 1\n",
	"key after":  "entries:\n  - a: 1\n  - a: 2\nowner: agent\n",
	"key before": "entries:\n  - a: 1\n",
	"anchors":    "entries:\n  - &x {a: 1}\n  - *x\n  - a: 2\n",
	"markers":    "---\nentries:\n  - a: 1\n  - a: 2\n",
	"end":        "entries:\n  - a: 1\n...\n",
	"crlf":       "entries:\r\n  - a: 1\r\n  - a: 2\r\n  - a: 3\r\n",
	"odd breaks": "entries:\n  - a: \"x\u2028y\"\n  - a: 2\n",
	"pointer":    "version https://git-lfs.github.com/spec/v1: x\nentries:\n- a: 1\n- a: 2\n- a: " + strings.Repeat("x", 1024) + "\n",
	"no end":     "entries:\n  - a: 1\n  - a: 2",
}

// TestBefore cuts texts at every line and demands that the short way, if it is
// taken, gives the same as reading the earlier text.
func TestBefore(t *testing.T) {
	taken := 0
	for name, text := range logTexts {
		whole, problems := ledger.ReadLog([]byte(text), small.Limits{})
		if whole == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		for end := range len(text) {
			if end > 0 && text[end-1] != '\n' {
				continue
			}
			part := []byte(text[:end])
			short := whole.ReadEarlier([]byte(text), part)
			if short == nil {
				continue
			}
			taken++
			long, problems := ledger.ReadLog(part, small.Limits{})
			if long == nil {
				t.Fatalf("%s: the short way reads %q, which cannot be read: %v", name, part, problems)
			}
			if diff := cmp.Diff(long.Entries, short.Entries); diff != "" || long.Head() != short.Head() {
				t.Errorf("%s: %q (-whole +short):\n%s", name, part, diff)
			}
			// What extends the earlier log must not write into the later one.
			more := string(part) + strings.Repeat(" ", short.Entries[0].Pos.Column-3) + "- a: other\n"
			if longer, _ := short.Extend(part, []byte(more), small.Limits{}); longer == nil {
				t.Errorf("%s: %q cannot be extended", name, part)
			}
			again, _ := ledger.ReadLog([]byte(text), small.Limits{})
			if again.Head() != whole.Head() || !cmp.Equal(again.Entries, whole.Entries) {
				t.Fatalf("%s: extending an earlier log changed the later one", name)
			}
		}
	}
	if taken < 10 {
		t.Errorf("the short way was taken %d times; the texts should allow more", taken)
	}
}

// TestForked makes texts fork after each line, and within it, and demands that they are read as they are by themselves.
func TestForked(t *testing.T) {
	shared := 0
	for name, text := range logTexts {
		whole, _ := ledger.ReadLog([]byte(text), small.Limits{})
		for end := range len(text) {
			if end > 2 && text[end-1] != '\n' && text[end-3] != '\n' {
				continue
			}
			for i := end % 3; i < len(smalltest.LogPieces); i += 3 {
				data := []byte(text[:end] + strings.ReplaceAll(smalltest.LogPieces[i], "D", "  "))
				want, _ := ledger.ReadLog(data, small.Limits{})
				got, _ := whole.Extend([]byte(text), data, small.Limits{})
				if (got == nil) != (want == nil) {
					t.Fatalf("%s: %q is read: %v, and by itself: %v", name, data, got != nil, want != nil)
				}
				if got == nil {
					continue
				}
				if shared++; got.Head() != want.Head() || !reflect.DeepEqual(got.Entries, want.Entries) {
					t.Errorf("%s: %q is read as %+v, and by itself as %+v", name, data, got.Entries, want.Entries)
				}
			}
		}
	}
	if shared < 1000 {
		t.Errorf("only %d texts could be read", shared)
	}
}
