package ledger

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// mostTime is far more than a linear computation of these tests needs, and far less than a quadratic one.
const mostTime = 10 * time.Second

// TestLargeReopened compares many lost entries with many open ones.
func TestLargeReopened(t *testing.T) {
	t.Parallel()
	const entries = 12_000
	form := &Form{Open: regexp.MustCompile("^open")}
	var before, after strings.Builder
	for i := range entries {
		fmt.Fprintf(&before, "done a%[1]d b%[1]d c%[1]d d%[1]d\n", i)
		fmt.Fprintf(&after, "open e%[1]d f%[1]d g%[1]d h%[1]d\n", i)
	}
	compare := func(before, after string) *Comparison {
		started := time.Now()
		records := func(text string) RecordsFunc {
			return func() ([]*small.Value, error) { return form.Values([]byte(text)), nil }
		}
		old, _ := form.Read([]byte(before))
		now, _ := form.Read([]byte(after))
		compared, err := Compare(old.Ledger, now.Ledger, CompareOptions{OldRecords: records(before), NewRecords: records(after)})
		if err == nil {
			err = compared.MarkReopened(form.OpenText([]byte(after)))
		}
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took > mostTime {
			t.Errorf("it took %s", took)
		}
		return compared
	}
	if lost := compare(before.String(), after.String()).OfKind(EditDeleted); len(lost) != entries {
		t.Errorf("%d entries are gone", len(lost))
	}
	reopened := strings.ReplaceAll(before.String(), "done", "open")
	if changed := compare(before.String(), reopened).OfKind(EditModified); len(changed) != entries || changed[7].Reopened.Pos.Line != 8 {
		t.Errorf("%d entries were set back to open", len(changed))
	}
	last, _, _ := strings.Cut(before.String(), "\n")
	if changed := compare(last+"\n", after.String()+strings.Replace(last, "done", "open", 1)+"\n").OfKind(EditModified); len(changed) != 1 || changed[0].Reopened.Pos.Line != entries+1 {
		t.Errorf("the one behind all others: %v", changed)
	}
}

// TestLargeRotation rotates logs with many equal lines.
func TestLargeRotation(t *testing.T) {
	t.Parallel()
	const lines = 60_000
	read := func(text string) *Ledger {
		l, problems := new(Form).Read([]byte(text))
		if l == nil {
			t.Fatal(problems)
		}
		return l.Ledger
	}
	equal := strings.Repeat("---\n", lines)
	for name, c := range map[string]struct {
		log, archive string
		gone, rest   int
	}{
		"all":   {equal, equal, lines, 0},
		"half":  {equal[:len(equal)/2] + "end\n", equal, lines / 2, 1},
		"apart": {"first\nlast\n" + equal, "first\n" + equal + "last\n", 2, lines},
	} {
		started := time.Now()
		r := FindRotation(read(c.log), nil, read(c.archive), RotationOptions{Combines: true})
		if r == nil || len(r.Gone) != c.gone || len(r.Rest) != c.rest {
			t.Errorf("%s: %v", name, r != nil)
		}
		if took := time.Since(started); took > mostTime {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

// TestBeginningsIn compares the fast search with the obvious one.
func TestBeginningsIn(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	draw := func(most int) (out []small.Digest) {
		for range random.IntN(most + 1) {
			out = append(out, small.Digest{byte(random.IntN(2))})
		}
		return out
	}
	for range 2000 {
		p, c := draw(8), draw(20)
		want := make([]int, len(c))
		for k := range c {
			for want[k] < len(p) && k+want[k] < len(c) && p[want[k]] == c[k+want[k]] {
				want[k]++
			}
		}
		if got := beginningsIn(p, c); !slices.Equal(got, want) {
			t.Fatalf("%v in %v: %v, not %v", p, c, got, want)
		}
	}
}

// TestLargeRefused asks only about some of many entries of one task that may not be paired.
func TestLargeRefused(t *testing.T) {
	t.Parallel()
	const entries = 3000
	text := func(side string) []byte {
		var out strings.Builder
		out.WriteString("entries:\n")
		for i := range entries {
			fmt.Fprintf(&out, "- task_id: task\n  evidence: %s%d\n", side, i)
		}
		return []byte(out.String())
	}
	records := func(text []byte) RecordsFunc {
		return func() ([]*small.Value, error) {
			doc, _ := small.Parse(text, small.Limits{})
			return doc.Root.Get("entries").Items, nil
		}
	}
	before, after := text("ours"), text("theirs")
	old, _ := ReadLog(before, small.Limits{})
	now, _ := ReadLog(after, small.Limits{})
	asked := 0
	compared, err := Compare(old.Ledger, now.Ledger, CompareOptions{
		OldRecords: records(before), NewRecords: records(after),
		MayPair: func(_, _ *Entry) bool { asked++; return false },
	})
	if err != nil || len(compared.OfKind(EditDeleted)) != entries || asked == 0 || asked > entries*maxRefused {
		t.Errorf("asked %d times, %d gone, %v", asked, len(compared.OfKind(EditDeleted)), err)
	}
}
