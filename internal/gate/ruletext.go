package gate

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// Doc explains a rule. Its text stands in texts/, in a file that has the rule's
// id for its name.
type Doc struct {
	// Summary is one line.
	Summary string
	// Why explains the rule to somebody who has just met it.
	Why string
	// Wrong and Right are examples in the txtar format: files of a workspace,
	// laid over a valid one; see Example.
	Wrong, Right string
}

//go:embed texts
var texts embed.FS

// documented are the rules with their explanations, which nobody pays for who
// only judges.
var documented = sync.OnceValue(func() []Rule {
	out := make([]Rule, len(rules))
	for i := range rules {
		out[i] = rules[i]
		text, err := texts.ReadFile("texts/" + rules[i].ID + ".txt")
		if err != nil {
			panic(fmt.Sprintf("gate: the rule %s has no text: %v", rules[i].ID, err))
		}
		out[i].Doc = parseDoc(string(text))
	}
	return out
})

// parseDoc reads a rule's text: the summary, an empty line, why, and the examples
// after the lines "= wrong" and "= right".
func parseDoc(text string) Doc {
	words, examples, _ := strings.Cut(text, "\n= wrong\n")
	var d Doc
	d.Summary, d.Why, _ = strings.Cut(words, "\n\n")
	d.Wrong, d.Right, _ = strings.Cut(examples, "= right\n")
	d.Why = strings.TrimSpace(d.Why)
	return d
}
