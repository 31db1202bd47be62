package combine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Comments stay above their entry, or in it. For an entry that both sides have, those of the side that changed them are kept, ours if both did.
func TestResolveKeepsComments(t *testing.T) {
	a, b, c := at("a", 1), at("b", 2), at("c", 3)
	one := marker("1 entry", "1 entry")
	inline := func(entry, comment string) string {
		return strings.Replace(entry, "\"done\"\n", "\"done\""+comment+"\n", 1)
	}
	session := "\n  # --- session ---\n\n"
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"theirs alone comments":            {text(a), text(a, b), text(inline(a, " # seen")), text(a, b)},
		"theirs alone changed":             {text(a), text(a), text(inline(a, " # seen"), b), text(inline(a, " # seen"), b)},
		"ours alone comments":              {text(a), text("  # seen\n", a), text(a, b), text("  # seen\n", a, b)},
		"both only comment":                {text(a), text("  # x\n", a), text("  # y\n", a), text("  # x\n", a)},
		"apart":                            {text(a), text(inline(a, " # x"), c), text(inline(a, " # y"), "  # z\n", b), text(inline(a, " # x"), "  # z\n", b, c, one)},
		"theirs comments a new entry":      {text(a), text(a, c), text(a, "  # z\n", b), text(a, "  # z\n", b, c, one)},
		"a comment at the end of the base": {text(a, "  # below\n"), text(a, "  # below\n", c), text(a, "  # below\n", b), text(a, "  # below\n", b, c, one)},
		"blank lines":                      {text(a), text(a, "\n", b), text(a, session, c), text(a, "\n", b, session[1:], c, one)},
		"blank lines, theirs":              {text(a), text(a, session, b), text(a, "\n", c), text(a, session, b, c, one)},
		"same entry, no base":              {text(a), text(a, b, c), text(a, inline(b, " # y")), text(a, b, c)},
		"header of both":                   {text(a), "# x\n" + text(a, b), "# y\n" + text(a, c), "# x\n" + text(a, b, c, one)},
		"header of theirs":                 {text(a), text(a, b), "# y\n" + text(a, c), "# y\n" + text(a, b, c, one)},
		"header of theirs, our comments":   {text(a), text(inline(a, " # x"), b), "# y\n" + text(inline(a, " # y"), c), "# y\n" + text(inline(a, " # x"), b, c, one)},
		"taken out":                        {text("  # old\n", a), text(a, b), text("  # old\n", a, c), text(a, b, c, one)},
		"a side without entries":           {"", "# empty\n" + head[:len(head)-1] + " []\n", text(a), text(a)},
		"left more than a comment can be": {text(a), strings.ReplaceAll(text(a, b), "\n  ", "\n"), text(a, " # y\n", c),
			strings.ReplaceAll(text(a, b, c, one), "\n  ", "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fork(test.base, test.ours, test.theirs).Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, unjittered(got.Text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
