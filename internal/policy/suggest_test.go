package policy

import (
	"maps"
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	keys := slices.Sorted(maps.Keys(knownRules.vocabulary().Properties))
	for word, want := range map[string]string{
		"stric": "strict", "Strict": "strict", "strcit": "strict", "modus": "mode", "mdoe": "mode",
		"waiver": "waivers", "baselines": "baseline", "base": "baseline", "append-only": "append_only",
		"appendonly": "append_only", "workspace": "workspaces", "rule": "rules", "limit": "limits",
		"agent": "agents", "vesion": "version", "ver": "version",
		"": "", "x": "", "extends": "", "colour": "", "lanse": "lane", "ignore": "",
		"strictstrictstrictstrictstrictstrictstrictstrictstrictstrictstrictstrict": "",
	} {
		if got := nearestWord(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestNearestRule(t *testing.T) {
	for id, want := range map[string]string{
		"append-only/modifed":  "append-only/modified",
		"append_only/modified": "append-only/modified",
		"modified":             "append-only/modified",
		"lint/modified":        "append-only/modified",
		"secret":               "lint/secret",
		"lint/secrets":         "lint/secret",
		"lint/timestamp":       "lint/timestamp-format",
		"divergence/plans":     "divergence/plan",
		"unknown":              "lint/unknown-task",
		"E501":                 "",
	} {
		if got := nearestRule(id, ids()); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"ca", "abc", 3},
		{"kitten", "sitting", 3}, {"größe", "grosse", 3}, {"ab", "ba", 1}, {"waver", "waiver", 1},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
		if got := editDistance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for word, want := range map[string]string{"reordred": "append-only/reordered", "append-only/": "append-only/modified", "/": "", "": ""} {
		if got := Suggest(word, ids()); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
