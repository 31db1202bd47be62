package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
)

func TestDump(t *testing.T) {
	f, err := os.Create(os.Getenv("DUMP"))
	if err != nil {
		t.Skip()
	}
	defer f.Close()
	put := func(what string, r *gate.Report) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "%s %s\n", what, data)
	}
	var n int
	fmt.Sscan(os.Getenv("DUMPN"), &n)
	for seed := range n {
		w := buildWorld(&tape{bytes: randomTape(uint64(seed + 770000))})
		h, ids := w.history()
		last := len(ids) - 1
		put(fmt.Sprint(seed, " audit"), gate.Audit(context.Background(), h, ids[last], w.options()))
		each := w.options()
		each.Each = true
		for _, p := range w.pairs {
			a, b := ids[p[0]], ids[p[1]]
			put(fmt.Sprint(seed, " range ", p), gate.Range(context.Background(), h, a, b, each))
			put(fmt.Sprint(seed, " into ", p), gate.RangeInto(context.Background(), h, a, b, ids[last], w.options()))
			put(fmt.Sprint(seed, " merge ", p), gate.MergeCheck(context.Background(), h, a, b, "ours", "theirs", w.options()))
			put(fmt.Sprint(seed, " push ", p), gate.Push(context.Background(), h, gate.Update{Ref: "refs/heads/b", Old: a, New: b}, w.options()))
			put(fmt.Sprint(seed, " pusht ", p), gate.Push(context.Background(), h, gate.Update{Ref: "refs/heads/b", Old: a, New: b, Target: gate.Tip{ID: ids[last], Name: "main"}}, w.options()))
		}
		for c := last; c >= 0; c -= 2 {
			h.stage(w.commits[c].tree())
			var ns []gate.Neighbour
			if c > 1 && len(w.commits[c].parents) > 0 {
				ns = append(ns, gate.Neighbour{Tip: gate.Tip{ID: ids[c-1], Name: "n"}, Worktree: "/x"})
			}
			put(fmt.Sprint(seed, " index ", c), gate.Pending(context.Background(), h, pick(ids, w.commits[c].parents), w.options(), ns...))
		}
	}
}
