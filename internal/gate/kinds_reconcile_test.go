package gate_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// TestKindsReconciled combines the configured logs of two sound branches of a random history as reconcile does, the target's entries first. The gate
// accepts the merge, and a squash of it onto the target.
func TestKindsReconciled(t *testing.T) {
	ctx := context.Background()
	combined, refused := 0, 0
	for i := range 20 * *kindHistories { // few of them have such branches
		w := buildKinds(&tape{bytes: kindTape(*firstSeed + uint64(i))})
		if !w.usesOneLog() || w.since >= 0 {
			continue
		}
		if r := w.rewrite; r != nil && (w.kind.unordered() || !w.kind.plain() || slices.ContainsFunc(r.from, func(e string) bool { return strings.Contains(e, "same") })) {
			continue // the history may not show what the rewrite led to, or another side may have recorded an equal entry
		}
		h, ids := w.history()
		m, opts := w.model(), w.options(ids)
		for _, pair := range w.pairs {
			ours, target := pair[0], pair[1]
			bases := m.bases(ours, target)
			if len(bases) != 1 || bases[0] == ours || bases[0] == target {
				continue
			}
			if w.rewrite != nil && m.stood(ours, target) && !m.stood(bases[0]) {
				continue // the base does not show what the rewrite started from
			}
			sound := func(side int) bool { return !refuses(gate.Range(ctx, h, ids[bases[0]], ids[side], opts)) }
			if !sound(ours) || !sound(target) {
				continue
			}
			tree, why := w.reconcile(bases[0], ours, target)
			if tree == nil {
				if why != "" {
					refused++
				}
				continue
			}
			combined++
			h.stage(tree)
			for what, parents := range map[string][]string{"merge": {ids[ours], ids[target]}, "squash": {ids[target]}} {
				if r := gate.Pending(ctx, h, parents, opts); refuses(r) {
					t.Fatalf("seed %d: the %s of c%d and c%d, onto c%d, is rejected: %v\n%s\n%s", *firstSeed+uint64(i), what, ours, target, target, tree, w.draw(), listFindings(r, ids))
				}
			}
		}
	}
	t.Logf("%d pairs of branches were combined, %d were refused", combined, refused)
	if *kindHistories >= 60 && combined < 5 {
		t.Error("the histories are lopsided: they no longer test much")
	}
}

// reconcile combines two sides since their base. It returns no tree if a log moved or is gone on a side, or if the logs cannot be combined: why says
// why.
func (w *kindWorld) reconcile(base, ours, target int) (tree fileTree, why string) {
	tree = maps.Clone(w.trees[target])
	p := w.options(nil).Policy
	for _, at := range slices.Sorted(maps.Keys(w.trees[ours])) {
		was, began := w.trees[base][at]
		own, other := w.trees[ours][at], tree[at]
		_, both := w.trees[target][at]
		switch {
		case began && !both:
			return nil, ""
		case own == was && began, own == other:
			continue
		case !both || other == was && began:
			tree[at] = own
			continue
		}
		version := func(name string, f blobFile, there bool) combine.Version {
			v := combine.Version{Name: name}
			if there {
				v.Data = []byte(f.data)
			}
			return v
		}
		theirs := version("target", other, true)
		theirs.Bases = []combine.Version{version("base", was, began)}
		done, err := combine.Case{
			Path: at, Comparer: read.NewLogComparer(p, at, now), Now: now, TheirsFirst: true, TargetKnown: true,
			Ours: version("ours", own, true), Theirs: []combine.Version{theirs},
		}.Resolve()
		if err != nil {
			return nil, err.Error()
		}
		tree[at] = blobFile{data: string(done.Text), mode: other.mode}
	}
	for at := range w.trees[base] {
		if _, kept := w.trees[ours][at]; !kept {
			return nil, ""
		}
	}
	return tree, ""
}
