package combine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/combine"
)

var plain = &policy.Policy{Logs: []policy.Log{
	{Path: "*.log", Entries: policy.LineEntries}, {Path: "*.{yml,json}", Entries: policy.ListEntries, At: "a.b"},
}}

// plainText writes numbers as a log at a path: lines with all kinds of line ends and empty ones between them, or a list with something
// after it.
func plainText(r *rand.Rand, path string, entries []int) []byte {
	var out strings.Builder
	switch path {
	case "x.yml":
		out.WriteString("# top\na:\n  b:\n")
		for _, e := range entries {
			fmt.Fprintf(&out, "  - %d%s\n", e, []string{"", " # c", "\n\n  # below"}[r.IntN(3)])
		}
		out.WriteString("  c: 1\nd: 2\n")
	case "x.json":
		var parts []string
		for _, e := range entries {
			parts = append(parts, fmt.Sprintf(`{"ü": [%d]}`, e))
		}
		out.WriteString([]string{"", "", "\ufeff"}[r.IntN(3)] + `{"a": {"b": [` + strings.Join(parts, ",\n ") + `], "c": 1}}` + "\n")
	default:
		for i, e := range entries {
			end := []string{"\n", "\n", "\r\n", "\n\n", "\n\r\n"}[r.IntN(5)]
			if i == len(entries)-1 && r.IntN(3) == 0 {
				end = []string{"", "\r"}[r.IntN(2)]
			}
			fmt.Fprintf(&out, "%d%s", e, end)
		}
	}
	return []byte(out.String())
}

// edited is entries after some were added, removed, changed or moved.
func edited(r *rand.Rand, entries []int) []int {
	out := slices.Clone(entries)
	for range r.IntN(4) {
		switch at := r.IntN(len(out) + 1); {
		case at == len(out) || r.IntN(3) == 0:
			out = slices.Insert(out, at, 1+r.IntN(12))
		case r.IntN(2) == 0 && len(out) > 1:
			out = slices.Delete(out, at, at+1)
		default:
			out[at] = 1 + r.IntN(12)
		}
	}
	return out
}

// TestPlainPutBack puts logs back after random edits: the result continues the old log byte by byte, followed by the new entries and
// nothing else.
func TestPlainPutBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(gittest.Seed(seed), 1))
		path := []string{"x.log", "x.yml", "x.json"}[seed%3]
		kind := combine.KindOf(plain, path)
		entries := edited(r, []int{1, 2, 3, 3, 4})
		now := edited(r, entries)
		old, file := plainText(r, path, entries), plainText(r, path, now)
		accepts := read.NewLogComparer(plain, path, time.Time{}).Accepts
		back, err := kind.PutBack(old, file, accepts, nil, time.Time{}, small.Limits{})
		if err != nil {
			t.Fatal(seed, err)
		}
		before, _ := kind.Read(old, small.Limits{})
		there, _ := kind.Read(file, small.Limits{})
		if back.Text == nil {
			if !there.Extends(before.Ledger) {
				t.Fatalf("%d: nothing was put back of %q in %q", seed, old, file)
			}
			continue
		}
		after, problems := kind.Read(back.Text, small.Limits{})
		if after == nil || !after.Extends(before.Ledger) || after.Len() != before.Len()+back.New || len(back.Unplaceable) > 0 {
			t.Fatalf("%d: %q and %q are %q: %v, %+v", seed, old, file, back.Text, problems, back)
		}
		if path == "x.log" && !bytes.HasPrefix(back.Text, old) {
			t.Fatalf("%d: %q does not begin with %q", seed, back.Text, old)
		}
		if fresh := ledger.Only(there.Ledger, before.Ledger, ledger.Equivalence{}); len(fresh) != back.New+len(back.Changed) {
			t.Fatalf("%d: of %q and %q, %d are new: %q, %+v", seed, old, file, len(fresh), back.Text, back)
		}
	}
}

// TestPlainResolve resolves two random sides: the result continues the first, and has all of the second in its order.
func TestPlainResolve(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(gittest.Seed(seed), 2))
		path := []string{"x.log", "x.yml", "x.json"}[seed%3]
		side := func(base []int) []int {
			out := slices.Clone(base)
			for range 1 + r.IntN(4) {
				out = append(out, 1+r.IntN(9))
			}
			return out
		}
		base := []int{1, 2, 2}
		c := combine.Case{
			Path: path, Comparer: read.NewLogComparer(plain, path, time.Time{}), TheirsFirst: r.IntN(2) == 0,
			Ours: combine.Version{Name: "ours", Data: plainText(r, path, side(base))},
			Theirs: []combine.Version{{
				Name: "theirs", Data: plainText(r, path, side(base)), Picked: r.IntN(3) == 0,
				Bases: []combine.Version{{Name: "base", Data: plainText(r, path, base)}},
			}},
		}
		done, err := c.Resolve()
		if err != nil {
			t.Fatal(seed, err)
		}
		kind := combine.KindOf(plain, path)
		log := func(data []byte) *ledger.Log {
			out, _ := kind.Read(data, small.Limits{})
			return out
		}
		first, second, out := log(c.Ours.Data), log(c.Theirs[0].Data), log(done.Text)
		if c.TheirsFirst && !c.Theirs[0].Picked {
			first, second = second, first
		}
		if !out.Extends(first.Ledger) || out.Len() != done.Entries {
			t.Fatalf("%d: %q and %q are %q", seed, c.Ours.Data, c.Theirs[0].Data, done.Text)
		}
		if in := ledger.Subsequence(ledger.DigestsOf(second.Ledger), ledger.DigestsOf(out.Ledger)); in == nil && !c.Theirs[0].Picked || !ledger.OfEntries(out.Entries).HasAll(second.Ledger) {
			t.Fatalf("%d: %q and %q are %q", seed, c.Ours.Data, c.Theirs[0].Data, done.Text)
		}
	}
}
