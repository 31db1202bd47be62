package gate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// exceptions is a random history that is judged with and without waivers or baselines.
type exceptions struct {
	*kindWorld
	t       *testing.T
	seed    uint64
	history *memoryHistory
	ids     []string
	// plain has no exceptions, opts has some.
	plain, opts run.Options
}

// eachWithExceptions visits random histories.
func eachWithExceptions(t *testing.T, visit func(*exceptions)) {
	for i := range *kindHistories {
		seed := *firstSeed + uint64(i)
		x := &exceptions{kindWorld: buildKinds(&tape{bytes: kindTape(seed)}), t: t, seed: seed}
		x.history, x.ids = x.kindWorld.history()
		x.plain, x.opts = x.options(x.ids), x.options(x.ids)
		visit(x)
	}
}

func (x *exceptions) fail(format string, args ...any) {
	x.t.Helper()
	x.t.Fatalf("seed %d: %s\n%s", x.seed, fmt.Sprintf(format, args...), x.draw())
}

func (x *exceptions) audit(c int, opts run.Options) *finding.Report {
	r := gate.Audit(context.Background(), x.history, x.ids[c], opts)
	if r.Verdict == finding.Error {
		x.fail("the audit failed: %v", r.Failure)
	}
	return r
}

// bringsBack reports whether all errors of a report are waived edits taken back: an entry is there again that a waiver let go. Without the waiver it
// is a new entry. With it the version that was to go is back, whether what became of it is still there or not.
func (x *exceptions) bringsBack(r *finding.Report) bool {
	equal := ledger.Equivalence{Edits: map[small.Digest][]small.Digest{}}
	for _, w := range x.opts.Policy.Waivers {
		if w.From != nil && w.To != nil && w.Edit != ledger.LogEnded {
			equal.Edits[*w.From] = append(equal.Edits[*w.From], *w.To)
		}
	}
	return !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		from, errFrom := small.ParseDigest(f.EditFrom)
		to, errTo := small.ParseDigest(f.EditTo)
		return f.Severity == finding.SeverityError && (errFrom != nil || errTo != nil || !equal.AllowsTransition(to, from))
	})
}

// passWhatPassed demands that whatever passes without the exceptions passes with them, except that no waived edit may be taken back, and counts that.
func (x *exceptions) passWhatPassed() (passed int) {
	ctx := context.Background()
	judge := func(what string, judge func(run.Options) *finding.Report) {
		if refuses(judge(x.plain)) {
			return
		}
		passed++
		if r := judge(x.opts); refuses(r) && !x.bringsBack(r) {
			x.fail("%s passes without the exceptions, and not with them\n%s", what, listFindings(r, x.ids))
		}
	}
	for c, id := range x.ids {
		judge(fmt.Sprintf("audit of c%d", c), func(o run.Options) *finding.Report { return gate.Audit(ctx, x.history, id, o) })
		for p, old := range x.ids[:c] {
			judge(fmt.Sprintf("range c%d..c%d", p, c), func(o run.Options) *finding.Report { return gate.Range(ctx, x.history, old, id, o) })
			judge(fmt.Sprintf("push of c%d over c%d", c, p), func(o run.Options) *finding.Report {
				return gate.Push(ctx, x.history, history.Update{Ref: "refs/heads/b", Old: old, New: id}, o)
			})
		}
		x.history.stage(x.trees[c])
		judge(fmt.Sprintf("c%d as the index", c), func(o run.Options) *finding.Report {
			return gate.Pending(ctx, x.history, pick(x.ids, x.parents[c]), o)
		})
	}
	return passed
}

// waiversFor returns a waiver for each error of a report that can be waived, and whether that is each error.
func waiversFor(r *finding.Report) (waivers []policy.Waiver, all bool) {
	all = true
	for _, f := range r.Findings {
		if f.Severity != finding.SeverityError {
			continue
		}
		if f.EditFrom == "" && f.EditTo == "" {
			all = false
			continue
		}
		w := policy.Waiver{Rule: f.Rule, Edit: editOf(f.Rule), Path: f.Path, Reason: "x"}
		if d, err := small.ParseDigest(f.EditFrom); err == nil {
			w.From = &d
		}
		if d, err := small.ParseDigest(f.EditTo); err == nil {
			w.To = &d
		}
		waivers = append(waivers, w)
	}
	return waivers, all
}

// usesOneLog reports whether no commit has another log than log/a, to which entries could have gone.
func (w *kindWorld) usesOneLog() bool {
	return !w.kind.files && !slices.ContainsFunc(w.trees, func(tree fileTree) bool {
		return slices.ContainsFunc(w.logs(tree), func(p string) bool { return p != "log/a"+w.kind.suffix })
	})
}

// failWithoutEach demands that the audit fails if one of the edits that it reports is not waived, and counts these edits.
func (x *exceptions) failWithoutEach(waivers []policy.Waiver) int {
	effect := func(w policy.Waiver) string { return fmt.Sprint(w.Edit, w.Path, w.From, w.To) }
	moves := func(w policy.Waiver) bool { return w.From != nil && w.To != nil && *w.From == *w.To }
	onlyMoves := !slices.ContainsFunc(waivers, func(w policy.Waiver) bool { return !moves(w) })
	for _, left := range waivers {
		if moves(left) && !onlyMoves {
			continue // an edit of another kind, of this or of an equal entry, can explain the move as well
		}
		opts := x.options(x.ids)
		for _, w := range waivers {
			if effect(w) != effect(left) {
				opts.Policy.Waivers = append(opts.Policy.Waivers, w)
			}
		}
		if !refuses(x.audit(len(x.ids)-1, opts)) {
			x.fail("%s is not waived, and the audit passes; without any waiver:\n%s", effect(left), listFindings(x.audit(len(x.ids)-1, x.plain), x.ids))
		}
	}
	return len(waivers)
}

// TestKindsWaived waives all edits that the audit of a random history reports, until no more are reported. A waived edit is not reported again, each
// edit needs its waiver, and no judgement that passed without the waivers fails with them.
func TestKindsWaived(t *testing.T) {
	rounds, passed, needed := 0, 0, 0
	eachWithExceptions(t, func(x *exceptions) {
		waived := map[string]int{} // the round in which an edit was waived
		for round := 0; ; round++ {
			r := x.audit(len(x.ids)-1, x.opts)
			waivers, all := waiversFor(r)
			if len(waivers) == 0 {
				break
			}
			for _, w := range waivers {
				edit := fmt.Sprint(w.Rule, w.Path, w.From, w.To)
				if since, is := waived[edit]; is && since < round {
					x.fail("%s is reported although it is waived\n%s", edit, listFindings(r, x.ids))
				}
				waived[edit] = round
			}
			ended := func(w policy.Waiver) bool { return w.Edit == ledger.LogEnded } // edits of a log that began anew do not count
			if round == 0 && all && x.usesOneLog() && !slices.ContainsFunc(waivers, ended) {
				needed += x.failWithoutEach(waivers)
			}
			if x.opts.Policy.Waivers = append(x.opts.Policy.Waivers, waivers...); round == 20 {
				x.fail("after 20 rounds of waivers:\n%s", listFindings(r, x.ids))
			}
			rounds++
		}
		if x.usesOneLog() { // among several, an entry that may be missing can hide which of them moved where
			passed += x.passWhatPassed()
		}
	})
	t.Logf("%d rounds of waivers, %d edits that needed one; %d judgements passed", rounds, needed, passed)
	if *kindHistories >= 60 && (rounds < 10 || passed < 100) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}

// TestKindsBaseline accepts a log of a random history as one of its commits has it. No judgement that passed without the baseline fails with it.
func TestKindsBaseline(t *testing.T) {
	passed, mended := 0, 0
	eachWithExceptions(t, func(x *exceptions) {
		at := "log/a" + x.kind.suffix
		c := len(x.ids) - 1 - int(x.seed)%len(x.ids)
		log := readKind(x.kind, x.trees[c])[at]
		if x.kind.files || log.state != readable || len(log.entries) == 0 || len(log.raw) != len(log.entries) {
			return
		}
		x.opts.Policy.Baselines = []policy.Baseline{{Path: at, Entries: len(log.entries), Head: *x.headOf(log.raw), Reason: "x"}}
		x.opts.Trusted = x.ids[c]
		if refuses(x.audit(c, x.plain)) && !refuses(x.audit(c, x.opts)) {
			mended++
		}
		passed += x.passWhatPassed()
	})
	t.Logf("%d audits pass because of the baseline, %d judgements passed without it", mended, passed)
	if *kindHistories >= 60 && (mended == 0 || passed < 100) {
		t.Error("the histories are lopsided: they no longer test much")
	}
}
