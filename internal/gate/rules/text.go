package rules

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/rule"
)

//go:embed texts
var texts embed.FS

// documented are the rules with their explanations, which are read only if somebody asks for them.
var documented = sync.OnceValue(func() []rule.Rule {
	out := make([]rule.Rule, len(List))
	for i := range List {
		out[i] = List[i]
		text, err := texts.ReadFile("texts/" + List[i].ID + ".txt")
		if err != nil {
			panic(fmt.Sprintf("gate: the rule %s has no text: %v", List[i].ID, err))
		}
		out[i].Doc = parseDoc(string(text))
	}
	return out
})

// parseDoc reads a rule's text: the summary, an empty line, why, and the examples after the lines "= wrong" and "=
// right".
func parseDoc(text string) rule.Doc {
	words, examples, _ := strings.Cut(text, "\n= wrong\n")
	var d rule.Doc
	d.Summary, d.Why, _ = strings.Cut(words, "\n\n")
	d.Wrong, d.Right, _ = strings.Cut(examples, "= right\n")
	d.Why = strings.TrimSpace(d.Why)
	return d
}
