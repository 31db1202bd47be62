package reconcile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What people write beside entries is kept of both sides.
func TestResolveKeepsComments(t *testing.T) {
	a, b, c := at("a", 1), at("b", 2), at("c", 3)
	one := marker("1 entry", "1 entry")
	inline := func(entry, comment string) string {
		return strings.Replace(entry, "\"done\"\n", "\"done\""+comment+"\n", 1)
	}
	session := "\n  # --- session ---\n\n"
	for name, test := range map[string]struct {
		base, ours, theirs, want string
		notes                    []string
	}{
		"one side only comments": {text(a), text(a, b), text(inline(a, " # seen")), text(inline(a, " # seen"), b), nil},
		"ours only comments":     {text(a), text("  # seen\n", a), text(a, b), text("  # seen\n", a, b), nil},
		"both only comment":      {text(a), text("  # x\n", a), text("  # y\n", a), text("  # x\n", "  # y\n", a), nil},
		"apart":                  {text(a), text("  # x\n", a, c), text(inline(a, " # y"), b), text("  # x\n", inline(a, " # y"), b, c, one), nil},
		"blank lines":            {text(a), text(a, "\n", b), text(a, session, c), text(a, "\n", b, session[1:], c, one), nil},
		"blank lines, theirs":    {text(a), text(a, session, b), text(a, "\n", c), text(a, session, b, c, one), nil},
		"same entry on both sides, without base": {text(a), text(a, b, c), text(a, inline(b, " # y")),
			text(a, inline(b, " # y"), c), nil},
		"header and footer":     {text(a), "# x\n" + text(a, b), "# y\n" + text(a, c), "# x\n# y\n" + text(a, b, c, one), nil},
		"taken out on one side": {text("  # old\n", a), text(a, b), text("  # old\n", a, c), text(a, b, c, one), nil},
		"the same comment on both sides": {text(a), text(inline(a, " # x"), b), text(inline(a, " # \u202ey")), text(inline(a, " # x"), b), []string{
			"both sides changed the form at the same place; there the first side's is kept",
			`a comment of agent-2 is not in it, line 6 of git show 2222:'.small/progress.small.yml' says: "# \u202ey"`,
		}},
		"a side without entries": {"", "# empty\n" + head[:len(head)-1] + " []\n", text(a), text(a), []string{
			"a comment of main is not in it, line 1 of git show 1111:'.small/progress.small.yml' says: \"# empty\"",
		}},
		"left more than a comment can be": {text(a), strings.ReplaceAll(text(a, b), "\n  ", "\n"), text(a, " # y\n", c),
			strings.ReplaceAll(text(a, b, "  # y\n", c, one), "\n  ", "\n"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fork(test.base, test.ours, test.theirs).Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got.Text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMerge3(t *testing.T) {
	for name, test := range map[string]struct {
		origin, a, b, want string
		clash              bool
	}{
		"one side":            {"1 2 3", "1 2 3", "1 x 3", "1 x 3", false},
		"apart":               {"1 2 3 4", "x 2 3 4", "1 2 3 y", "x 2 3 y", false},
		"taken out":           {"1 2 3", "1 3", "1 2 3 4", "1 3 4", false},
		"both alike":          {"1 2", "1 x", "1 x", "1 x", false},
		"clash":               {"1 2 3", "1 x 3", "1 y 3", "1 x 3", true},
		"comments":            {"1 #2 3", "1 #x 3", "1 #y 3", "1 #x #y 3", false},
		"no origin":           {"", "1 #x 2", "1 2 #y", "1 #x 2 #y", false},
		"same comments twice": {"", "#a #b #c", "#b #d", "#a #b #c #d", false},
	} {
		t.Run(name, func(t *testing.T) {
			lines := func(text string) (out [][]byte) {
				for _, word := range strings.Fields(text) {
					out = append(out, []byte(word+"\n"))
				}
				return out
			}
			got, clash := merge3(lines(test.origin), lines(test.a), lines(test.b))
			if want := lines(test.want); !slices.EqualFunc(got, want, slices.Equal) || clash != test.clash {
				t.Errorf("got %q, %v", join(got), clash)
			}
		})
	}
}
