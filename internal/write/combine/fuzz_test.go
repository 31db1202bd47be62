package combine

import (
	"testing"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// FuzzResolve resolves any three texts: a result, if there is one, continues every side as the gate demands.
func FuzzResolve(f *testing.F) {
	a, b, c := at("a", 1), at("b", 2), at("c", 3)
	f.Add(text(a), text(a, b), text(a, c))
	f.Add(text(a), "%YAML 1.1\n---\n"+text(a, "  # x\n", b)+"...\n", "{entries: [{timestamp: \"2026-03-01T09:02:00.5Z\"}]}")
	f.Add("", "? entries\n: - &x {timestamp: \"2026-03-01T09:01:00.5Z\"}\n  -\n    - *x\n", "entries:\n- timestamp: '2026-03-01T09:01:00.6Z'\n- !!map\n  timestamp: \"2026-03-01T09:02:00.6Z\"\nowner: b")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		c := fork(base, ours, theirs)
		got, err := c.Resolve()
		if err != nil {
			return
		}
		if ours == "" && theirs == "" {
			return
		}
		result, problems := ledger.ReadLog(got.Text, small.Limits{})
		if result == nil {
			t.Fatalf("it is no log: %v\n%s", problems, got.Text)
		}
		for _, v := range []string{ours, theirs} {
			side, _ := ledger.ReadLog([]byte(v), small.Limits{})
			if side != nil && !c.Comparer.Accepts(side.Ledger, result.Ledger) {
				t.Fatalf("a side is not in it:\n%s\n\n%s", v, got.Text)
			}
		}
	})
}
