package gate_test

import (
	"context"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
)

// shallowHistory lacks every merge base, as a shallow clone may.
type shallowHistory struct{ *memoryHistory }

func (shallowHistory) MergeBases(context.Context, string, string) ([]string, error) {
	return nil, history.ErrLacking
}

// A shallow clone cannot tell an entry that was changed here from one that a neighbour recorded. Once the history is complete, it can: a front that
// was saved before must not hide the merge base.
func TestNeighbourAfterShallowClone(t *testing.T) {
	f := newFlow(t)
	f.commit("A", "", "a b")
	f.commit("H", "A", "a b'")
	f.commit("N", "A", "a b")
	f.h.stage(f.tree("a b' c"))
	neighbour := logs.Neighbour{Tip: history.Tip{ID: f.id("N"), Name: "other"}, Worktree: "../other", Fronts: map[string]logs.Front{}}
	warning := "warning divergence/concurrent-append index from N: #1 task-b"
	f.want(gate.Pending(t.Context(), shallowHistory{f.h}, f.all("H"), f.opts, neighbour), warning)
	f.clean(gate.Pending(t.Context(), f.h, f.all("H"), f.opts, neighbour))
}
