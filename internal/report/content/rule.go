package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// RulePages is the address of the folder with the rules' pages.
const RulePages = wording.Site + "docs/rules/"

// RulePage returns the address of a rule's page on the web site.
func RulePage(id string) string { return RulePages + id + ".html" }

// Paragraphs returns the paragraphs of an explanation, each in one line.
func Paragraphs(text string) []string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return paragraphs
}
