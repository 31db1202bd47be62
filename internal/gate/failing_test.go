package gate_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// failingHistory fails from one call on, and counts them.
type failingHistory struct {
	*memoryHistory
	at, calls int
}

var errUnreadable = errors.New("the disk went away")

func (h *failingHistory) fail() error {
	h.calls++
	if h.at > 0 && h.calls >= h.at {
		return errUnreadable
	}
	return nil
}

func (h *failingHistory) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	if err := h.fail(); err != nil {
		return nil, err
	}
	return h.memoryHistory.Commits(ctx, include, exclude)
}

func (h *failingHistory) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	if err := h.fail(); err != nil {
		return nil, err
	}
	return h.memoryHistory.Diff(ctx, edges, f)
}

func (h *failingHistory) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	if err := h.fail(); err != nil {
		return nil, err
	}
	return h.memoryHistory.List(ctx, revision, f)
}

func (h *failingHistory) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	if err := h.fail(); err != nil {
		return history.Blob{}, err
	}
	return h.memoryHistory.Blob(ctx, object, limit)
}

func (h *failingHistory) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if err := h.fail(); err != nil {
		return history.Signature{}, err
	}
	return h.memoryHistory.Signature(ctx, revision)
}

// TestEveryErrorIsOutcomeTwo: wherever reading a history fails, the
// verdict is that it could not be judged, and the cause is kept.
func TestEveryErrorIsOutcomeTwo(t *testing.T) {
	forEachHistory(t, someHistories()/2, func(w *world) string {
		h, ids := w.history()
		last := len(ids) - 1
		h.stage(w.commits[last].tree())
		for name, judge := range map[string]func(history.History) *finding.Report{
			"audit": func(h history.History) *finding.Report {
				return gate.Audit(context.Background(), h, ids[last], w.options())
			},
			"range": func(h history.History) *finding.Report {
				return gate.Range(context.Background(), h, ids[w.pairs[1][0]], ids[last], w.options())
			},
			"lane": func(h history.History) *finding.Report {
				opts := w.options()
				opts.Lane = "deep"
				return gate.Range(context.Background(), h, ids[w.pairs[1][0]], ids[last], opts)
			},
			"push": func(h history.History) *finding.Report {
				return gate.Push(context.Background(), h, history.Update{Old: ids[w.pairs[1][0]], New: ids[last]}, w.options())
			},
			"pending": func(h history.History) *finding.Report {
				return gate.Pending(context.Background(), h, pick(ids, w.commits[last].parents), w.options())
			},
		} {
			whole := &failingHistory{memoryHistory: h}
			judge(whole)
			for at := 1; at <= whole.calls; at++ {
				r := judge(&failingHistory{memoryHistory: h, at: at})
				if r.Verdict != finding.Error || r.ExitStatus() != 2 || !errors.Is(r.Failure, errUnreadable) {
					return fmt.Sprintf("%s: call %d of %d fails, and the verdict is %s (%v)", name, at, whole.calls, r.Verdict, r.Failure)
				}
			}
		}
		return ""
	})
}
