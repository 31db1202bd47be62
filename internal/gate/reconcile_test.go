package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
)

// forked is a random fork: one log, and the branches that went on with it.
type forked struct {
	world
	base  worldLog
	sides []worldLog
	// plain is true if reconcile has to resolve the fork: not every side is
	// written in brackets, and no entry was changed.
	plain bool
	// changed is true if a side changed an entry without a waiver.
	changed bool
}

// buildFork makes a fork of two branches, or three.
func buildFork(t *tape) *forked {
	b := &builder{tape: t}
	f := &forked{plain: true}
	f.base = worldLog{entries: b.entries(b.n(5)), style: b.anyStyle()}
	sides := make([][]logEntry, 2+b.n(4)/3)
	for i := range sides {
		sides[i] = slices.Clone(f.base.entries)
	}
	if len(f.base.entries) > 0 && b.oneIn(4) {
		f.plain = false
		at, side := b.n(len(f.base.entries)), b.n(len(sides))
		before := f.base.entries[at]
		after := b.edit(before)
		sides[side][at] = after
		if b.oneIn(2) {
			b.waivers = append(b.waivers, waivedEdit{before, after})
		} else {
			f.changed = true
		}
	}
	for range b.n(8) { // the clock goes on while they take turns
		side := b.n(len(sides))
		sides[side] = append(sides[side], b.entry())
	}
	for _, entries := range sides {
		log := worldLog{entries: entries, style: f.base.style}
		if b.oneIn(2) {
			log.style = b.anyStyle()
		}
		f.sides = append(f.sides, log)
	}
	f.plain = f.plain && slices.ContainsFunc(f.sides[:2], func(l worldLog) bool { return !l.style.flow && len(l.entries) > 0 })
	f.world = b.world
	return f
}

func (b *builder) anyStyle() style {
	return style{
		quotes: quotes(b.n(int(quoteKinds))), reversed: b.oneIn(2), indented: b.oneIn(2), comments: b.oneIn(3),
		crlf: b.oneIn(4), flow: b.oneIn(16), anchors: b.oneIn(8),
	}
}

// reconciled reconciles the logs at some places of a list, the first as
// ours.
func (f *forked) reconciled(order []int) (*combine.Resolution, error) {
	return f.caseOf(order).Resolve()
}

func (f *forked) caseOf(order []int) combine.Case {
	p := f.options().Policy
	if p == nil {
		p = policy.Default()
	}
	text := func(l worldLog) []byte { return []byte(l.file().data) }
	name := func(i int) string { return fmt.Sprint("side-", i) }
	c := combine.Case{
		Path: logPath(""), Now: now, Comparer: read.NewLogComparer(p, logPath(""), now),
		Ours: combine.Version{Name: name(order[0]), Data: text(f.sides[order[0]])},
	}
	for _, i := range order[1:] {
		c.Theirs = append(c.Theirs, combine.Version{Name: name(i), Data: text(f.sides[i]), Bases: []combine.Version{{Data: text(f.base)}}})
	}
	return c
}

// wrongs says what is wrong with what became of a fork; "" if nothing is. seen
// counts what happened.
func (f *forked) wrongs(seen map[string]int) string {
	order := make([]int, len(f.sides))
	for i := range order {
		order[i] = i
	}
	done, err := f.reconciled(order)
	if err != nil {
		seen["refused"]++
		if f.plain {
			return "it was refused: " + err.Error()
		}
		return ""
	}
	if f.changed {
		return "a side changed an entry without a waiver, and that was not refused"
	}
	seen["resolved"]++
	if wrong := f.notAsByTime(done); wrong != "" {
		return wrong
	}
	if wrong := f.rejected(done); wrong != "" {
		return wrong
	}
	if wrong := f.wrongAsOwn(); wrong != "" {
		return wrong
	}
	slices.Reverse(order)
	other, err := f.reconciled(order)
	if err != nil {
		return "the other way round it was refused: " + err.Error()
	}
	if a, b := ownDigests(done), ownDigests(other); !slices.Equal(a, b) || done.Added != other.Added {
		return fmt.Sprintf("the other way round it is another ledger:\n%s\n%s", done.Text, other.Text)
	}
	return ""
}

// wrongAsOwn says what is wrong if the second side is a commit of one's own that is put on top of the first; "" if nothing is.
func (f *forked) wrongAsOwn() string {
	if len(f.waivers) > 0 {
		return "" // what a waiver lets change is covered by the tests of merges
	}
	c := f.caseOf([]int{0, 1})
	c.Theirs[0].Picked = true
	done, err := c.Resolve()
	if err != nil {
		if f.plain {
			return "on top it was refused: " + err.Error()
		}
		return ""
	}
	own := len(f.sides[1].entries) - len(f.base.entries)
	if done.Added || done.Entries != len(f.sides[0].entries)+own {
		return fmt.Sprintf("on top there are %d own entries, and the log is\n%s", own, done.Text)
	}
	h := newMemoryHistory()
	tip := h.commit(f.sides[0].asTree(), h.commit(f.base.asTree()))
	rebased := h.commit(fileTree{logPath(""): {data: string(done.Text)}}, tip)
	if r := gate.Range(context.Background(), h, tip, rebased, f.options()); r.Verdict == finding.Error || refuses(r) || slices.ContainsFunc(r.Findings, inserts) {
		return fmt.Sprintf("on top the gate refuses it, or warns: %v\n%s\n%s", r.Failure, listFindings(r, nil), done.Text)
	}
	return ""
}

func inserts(f finding.Finding) bool { return strings.HasPrefix(f.Rule, "append-only/") }

// notAsByTime compares a resolution with what a naive merge makes: all entries
// of all sides, each once, sorted by time.
func (f *forked) notAsByTime(done *combine.Resolution) string {
	stands := map[string]string{}
	for _, w := range f.waivers {
		stands[w.before.key()] = w.after.key()
	}
	type timed struct{ time, key string }
	var want []timed
	have := map[string]bool{}
	own := make([]int, len(f.sides))
	for i, side := range f.sides {
		for at, e := range side.entries {
			if at >= len(f.base.entries) {
				own[i]++
			}
			key := e.key()
			if now := stands[key]; now != "" && f.someoneHas(now) {
				continue
			}
			if !have[key] {
				have[key] = true
				want = append(want, timed{fmt.Sprint(e["timestamp"]), digestOf(e).String()})
			}
		}
	}
	if len(f.waivers) == 0 {
		slices.SortFunc(want, func(a, b timed) int { return strings.Compare(a.time, b.time) })
	}
	got := ownDigests(done)
	if len(got) != len(want) {
		return fmt.Sprintf("it has %d entries, not %d:\n%s", len(got), len(want), done.Text)
	}
	for i := range want {
		if len(f.waivers) == 0 && got[i] != want[i].key || !slices.Contains(got, want[i].key) {
			return fmt.Sprintf("entry %d is another than by time:\n%s", i+1, done.Text)
		}
	}
	writers := 0
	for i, n := range own {
		if n != done.Brought[i] {
			return fmt.Sprintf("side %d brought %d entries, and %d were counted", i, n, done.Brought[i])
		}
		writers += min(n, 1)
	}
	if done.Added != (writers > 1) {
		return fmt.Sprintf("%d sides recorded something, and an entry that says so: %v", writers, done.Added)
	}
	return ""
}

func (f *forked) someoneHas(key string) bool {
	return slices.ContainsFunc(f.sides, func(l worldLog) bool {
		return slices.ContainsFunc(l.entries, func(e logEntry) bool { return e.key() == key })
	})
}

// rejected has the gate judge a resolution as it is committed, pushed and
// audited.
func (f *forked) rejected(done *combine.Resolution) string {
	h := newMemoryHistory()
	base := h.commit(f.base.asTree())
	var tips []string
	for _, side := range f.sides {
		tips = append(tips, h.commit(side.asTree(), base))
	}
	tree := fileTree{logPath(""): {data: string(done.Text)}}
	h.stage(tree)
	merge := h.commit(tree, tips...)
	opts := f.options()
	reports := map[string]*finding.Report{
		"commit": gate.Pending(context.Background(), h, tips, opts),
		"audit":  gate.Audit(context.Background(), h, merge, opts),
	}
	for i, tip := range tips {
		reports[fmt.Sprint("push over side ", i)] = gate.Push(context.Background(), h, history.Update{Ref: "refs/heads/b", Old: tip, New: merge}, opts)
		reports[fmt.Sprint("range from side ", i)] = gate.Range(context.Background(), h, tip, merge, opts)
	}
	squash := h.commit(tree, tips[0])
	reports["squash"] = gate.Range(context.Background(), h, tips[0], squash, opts)
	for what, r := range reports {
		if r.Verdict == finding.Error || refuses(r) {
			return fmt.Sprintf("%s: the gate refuses it: %v\n%s\n%s", what, r.Failure, listFindings(r, nil), done.Text)
		}
	}
	return ""
}

func (l worldLog) asTree() fileTree { return fileTree{logPath(""): l.file()} }

// ownDigests are the digests of a resolution's entries without the one that it
// adds.
func ownDigests(done *combine.Resolution) []string {
	log, problems := ledger.ReadLog(done.Text, small.Limits{})
	if log == nil {
		panic(problems[0].Message)
	}
	entries := log.Entries
	if done.Added {
		entries = entries[:len(entries)-1]
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Digest.String())
	}
	return out
}

func (f *forked) drawFork() string {
	out := "base:\n" + f.base.file().data
	for i, side := range f.sides {
		out += fmt.Sprintf("side %d:\n%s", i, side.file().data)
	}
	return out
}

// TestReconcile demands, for random forks, that what reconcile makes has every
// entry of every side in order of time, passes the gate, and does not depend on
// who merges whom.
func TestReconcile(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(*histories) {
		bytes := randomTape(*firstSeed + seed)
		if wrong := buildFork(&tape{bytes: bytes}).wrongs(seen); wrong != "" {
			bytes = shrink(bytes, func(b []byte) bool { return buildFork(&tape{bytes: b}).wrongs(map[string]int{}) != "" })
			f := buildFork(&tape{bytes: bytes})
			t.Fatalf("seed %d: %s\n%s", *firstSeed+seed, f.wrongs(seen), f.drawFork())
		}
	}
	t.Log(seen)
	if seen["resolved"] < *histories/2 || seen["refused"] < *histories/20 {
		t.Errorf("of %d forks too few were resolved, or refused: %v", *histories, seen)
	}
}

// FuzzReconcile lets a fuzzer choose the forks of TestReconcile.
func FuzzReconcile(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomTape(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 1000 {
			t.Skip("longer than any fork needs")
		}
		fork := buildFork(&tape{bytes: bytes})
		if wrong := fork.wrongs(map[string]int{}); wrong != "" {
			t.Fatalf("%s\n%s", wrong, fork.drawFork())
		}
	})
}
