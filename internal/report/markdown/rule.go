package markdown

import (
	"strings"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/report/content"
)

// Rule returns a rule's explanation with its examples.
func Rule(r *rule.Rule) string {
	var b strings.Builder
	for i, paragraph := range content.Paragraphs(r.Why) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(escape(paragraph) + "\n")
	}
	for _, example := range []struct{ title, text string }{{"Wrong", r.Wrong}, {"Right", r.Right}} {
		b.WriteString("\n**" + example.title + "**\n")
		for _, f := range catalogue.ParseExample(example.text).Files {
			label := codeSpan(f.Path)
			if step := f.StepName(); step != "" {
				label = step + ", " + label
			}
			if kind := f.Kind(); kind != "" {
				b.WriteString("\n" + label + " " + escape(kind) + "\n")
				continue
			}
			b.WriteString("\n" + label + "\n\n" + fenced("yaml", f.Content))
		}
	}
	b.WriteString("\n[" + r.ID + "](" + content.RulePage(r.ID) + ")\n")
	return b.String()
}
