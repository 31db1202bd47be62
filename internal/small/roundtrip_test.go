package small

import (
	"slices"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

// TestSuspects writes whole logs of random texts with yaml.v3. If a log does
// not come back, one of its suspects is broken, and if one is broken, the log
// does not: the first look misses nothing, and the second has no false alarm.
func TestSuspects(t *testing.T) {
	pieces := []string{
		"\n", "\n", " ", "\t", "\r", "\u0085", "\u2028", "\u2029", "a", "b c", "é", "😀", ":", ": ", "#", " #", "-", "- ", "'", `"`, "\ufeff",
		"\x00", "\x1b", "\u00a0", "\ufffe", "|", ">", "%", "---", "...", "{", "~", "true", "1", "<", "=", "\\", "?", "!", "&", "*", "@", "`", string(make([]byte, 90)),
	}
	var broken, kept uint64
	for seed := range smalltest.Seeds {
		r := smalltest.Seeded(seed)
		text := func() string {
			s := ""
			for range 1 + r.IntN(6) {
				s += smalltest.Pick(r, pieces)
			}
			return s
		}
		var random func(depth int) any
		random = func(depth int) any {
			switch r.IntN(3 + min(depth, 2)) {
			case 3:
				key := text()
				if key == "<<" {
					key = "<" // yaml.v3 makes a merge key of "<<", which the schema's rule reports
				}
				return map[string]any{"a": random(depth - 1), key: random(depth - 1)}
			case 4:
				return []any{random(depth - 1), random(depth - 1)}
			}
			return text()
		}
		entry := map[string]any{"task_id": "t", smalltest.Pick(r, []string{"evidence", "verification", "zeta"}): random(3)}
		doc := map[string]any{"entries": []any{map[string]any{"task_id": "first"}, entry}, "owner": "agent"}
		says := slices.ContainsFunc(EntrySuspects(modelValue(entry)), Suspect.BreaksOnWrite)
		if whole := !readsBackEqual(doc); whole != says {
			t.Fatalf("seed %d: written as a whole broken is %v, by its texts %v\n%q", seed, whole, says, entry)
		}
		if says {
			broken++
		} else {
			kept++
		}
		if all := Suspects(modelValue(doc)); slices.ContainsFunc(all, Suspect.BreaksOnWrite) != says {
			t.Fatalf("seed %d: the document's suspects say otherwise\n%q", seed, entry)
		}
	}
	if min(broken, kept) < *smalltest.Cases/20 {
		t.Errorf("%d broken and %d kept of %d", broken, kept, *smalltest.Cases)
	}
}

// modelValue is a value of strings, lists and mappings.
func modelValue(model any) *Value {
	switch m := model.(type) {
	case string:
		return &Value{Kind: String, Tag: strTag, Text: m}
	case []any:
		v := &Value{Kind: List}
		for _, item := range m {
			v.Items = append(v.Items, modelValue(item))
		}
		return v
	}
	v := &Value{Kind: Map}
	for key, member := range model.(map[string]any) {
		v.Fields = append(v.Fields, Field{Key: key, Value: modelValue(member)})
	}
	return v
}

func TestSuspectSubjects(t *testing.T) {
	doc := parsed(t, "summary: |2\n\n  a\nentries:\n- notes: fine\n- evidence:\n    codes: [x, \"\\tb\\nc\"]\n    \"\\n\": y\n  \"a\\n\": \" no\"\n")
	var got []string
	for _, s := range Suspects(doc.Root) {
		got = append(got, s.Pos.String()+" "+s.Subject)
	}
	want := []string{"1:10 summary", "7:16 entries.1.evidence.codes.1", "8:5 entries.1.evidence.\n"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
