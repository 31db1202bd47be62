package ledger

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
)

// A value that is found by the name of a field around it is masked in a change too, at any depth, and so is the other version's value.
func TestChangesMaskByName(t *testing.T) {
	key, hex := "wJ4lr9UtnFEM1zK7MDENGb"+"PxRfiCYq2kLmN8oP3s", "0f9e8d7c6b5a4938"+"2716051423f4e5d6"
	parse := func(text string) *small.Value {
		doc, problems := small.Parse([]byte(text), small.Limits{})
		if doc == nil {
			t.Fatal(problems)
		}
		return doc.Root
	}
	for _, entry := range []string{
		`evidence: {AWS_SECRET_ACCESS_KEY: ["` + key + `"]}`, `evidence: [{AWS_SECRET_ACCESS_KEY: [x, ["` + key + `"]]}]`,
		`TWILIO_AUTH_TOKEN: ["` + hex + `"]`, `AWS_SECRET_ACCESS_KEY: "` + key + `"`,
	} {
		old := parse(entry + "\n")
		if len(credentialsOf(old)) != 1 {
			t.Errorf("%s: %v", entry, credentialsOf(old))
		}
		damaged := parse(strings.NewReplacer(key, key[:39]+"-", hex, hex[:31]+"-", "AWS_SECRET_ACCESS_KEY: [", "AWS_SECRET_ACCESS_KEY: [y, ").Replace(entry) + "\n")
		for _, sides := range [][2]*small.Value{{old, nil}, {nil, old}, {old, damaged}, {damaged, old}} {
			changes := FieldChanges(sides[0], sides[1])
			if len(changes) == 0 {
				t.Errorf("%s: no change", entry)
			}
			for _, c := range changes {
				if shown := c.From + c.To; strings.Contains(shown, key[:8]) || strings.Contains(shown, hex[:8]) || !strings.Contains(shown, "masked") {
					t.Errorf("%s: %+v", entry, c)
				}
			}
		}
	}
}
