package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSteps(t *testing.T) {
	long := "a " + strings.Repeat("path/", 1600) // twice the longest path
	for fix, want := range map[string][]Step{
		"":                     nil,
		"`a b`, `c`":           {{"a b", true}, {"c", true}},
		"do `a` and `b`.":      {{"do", false}, {"a", true}, {"b", true}},
		"type `" + long + "`":  {{"type", false}, {long, true}},
		"one ` left":           {{"one ` left", false}},
		"fetch:\n  git x\nor":  {{"fetch:", false}, {"git x", true}, {"or", false}},
		"first\n  `x`; second": {{"first", false}, {"x", true}, {"second", false}},
	} {
		if diff := cmp.Diff(want, Steps(fix)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", fix, diff)
		}
	}
}
