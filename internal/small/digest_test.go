package small

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// parsed parses a text that must be readable.
func parsed(t testing.TB, text string) *Document {
	t.Helper()
	doc, problems := Parse([]byte(text), Limits{})
	if doc == nil {
		t.Fatalf("%v\n%q\n%s", problems, text, text)
	}
	return doc
}

// TestStyleKeepsDigest writes random entries in random YAML styles. Each must
// have the canonical form that another implementation computes from the value
// itself, and so the same digest in every style.
func TestStyleKeepsDigest(t *testing.T) {
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		entry := smalltest.RandomMap(r, 3)
		want := smalltest.CanonicalJSON(t, entry)
		for range 3 {
			s := smalltest.Styler{R: r, T: t}
			text := s.Document("entries", []any{"before", entry})
			items := parsed(t, text).Root.Get("entries").Items
			if len(items) != 2 {
				t.Fatalf("seed %d: %d items\n%s", seed, len(items), text)
			}
			if got := items[1].Canonical(); got != want {
				t.Fatalf("seed %d:\ngot  %q\nwant %q\n%q\n%s", seed, got, want, text, text)
			}
			if got := EntryDigest(items[1]); got != sha256.Sum256([]byte(want)) {
				t.Fatalf("seed %d: the digest is not SHA-256 of the canonical form", seed)
			}
		}
	}
}

// TestChangeChangesDigest changes one thing at any depth of random entries.
func TestChangeChangesDigest(t *testing.T) {
	var changes uint64
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		entry := smalltest.RandomMap(r, 3)
		changed, ok := change(r, entry)
		if !ok {
			continue
		}
		changes++
		digests := map[Digest]bool{}
		for _, e := range []any{entry, changed} {
			s := smalltest.Styler{R: r, T: t}
			text := s.Document("entries", []any{e})
			digests[EntryDigest(parsed(t, text).Root.Get("entries").Items[0])] = true
		}
		if len(digests) != 2 {
			t.Fatalf("seed %d: %s and %s have one digest", seed, smalltest.CanonicalJSON(t, entry), smalltest.CanonicalJSON(t, changed))
		}
	}
	if changes < *smalltest.Cases/2 {
		t.Fatalf("only %d changes were tried", changes)
	}
}

// change returns a copy of a value with one change somewhere, false if it
// found nothing to change.
func change(r *rand.Rand, v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return changeMap(r, v)
	case []any:
		return changeList(r, v)
	case string:
		return changeText(r, v), true
	case json.Number:
		i := slices.Index(smalltest.RandomNumbers, string(v))
		other := json.Number(smalltest.RandomNumbers[(i+1)%len(smalltest.RandomNumbers)])
		return smalltest.Pick(r, []any{string(v), other, nil, []any{v}}), true
	case bool:
		return smalltest.Pick(r, []any{!v, nil, map[bool]string{true: "true", false: "false"}[v]}), true
	}
	return smalltest.Pick(r, []any{"", "null", "~", false, json.Number("0"), []any{}, map[string]any{}}), true
}

func changeText(r *rand.Rand, v string) any {
	at := r.IntN(len([]rune(v)) + 1)
	before, after := string([]rune(v)[:at]), string([]rune(v)[at:])
	inserted := before + smalltest.Pick(r, []string{" ", "x", "\n", "\t", "\u00a0", "\u200b", "\x00"}) + after
	ways := []any{inserted, nil, []any{v}, map[string]any{v: v}}
	for _, other := range []string{strings.ToUpper(v), strings.ToLower(v), strings.TrimSpace(v), strings.ReplaceAll(v, "\t", "    "), strings.ReplaceAll(v, "\n", " ")} {
		if other != v {
			ways = append(ways, other)
		}
	}
	return smalltest.Pick(r, ways)
}

func changeMap(r *rand.Rand, m map[string]any) (any, bool) {
	out := maps.Clone(m)
	keys := slices.Sorted(maps.Keys(m))
	if len(keys) == 0 || r.IntN(6) == 0 {
		out["a new key"] = nil
		return out, true
	}
	key := smalltest.Pick(r, keys)
	switch r.IntN(4) {
	case 0:
		delete(out, key)
	case 1:
		delete(out, key)
		out[key+" "] = m[key]
	default:
		v, ok := change(r, m[key])
		out[key] = v
		return out, ok
	}
	return out, true
}

func changeList(r *rand.Rand, list []any) (any, bool) {
	out := slices.Clone(list)
	if len(out) == 0 || r.IntN(6) == 0 {
		return append(out, nil), true
	}
	i := r.IntN(len(out))
	switch r.IntN(3) {
	case 0:
		return slices.Delete(out, i, i+1), true
	case 1:
		j := (i + 1) % len(out)
		a, errA := json.Marshal(out[i])
		b, errB := json.Marshal(out[j])
		if errA != nil || errB != nil || string(a) == string(b) {
			return nil, false
		}
		out[i], out[j] = out[j], out[i]
		return out, len(out) > 1
	}
	v, ok := change(r, out[i])
	out[i] = v
	return out, ok
}
