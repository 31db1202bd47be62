package content

import (
	"strings"

	"github.com/small-gate/small-gate/internal/wording"
)

// RulePages is the address of the folder with the rules' pages.
const RulePages = wording.Docs + "rules/"

// RulePage is the address of a rule's section on its family's page.
func RulePage(id string) string {
	family, _, _ := strings.Cut(id, "/")
	return RulePages + family + ".md#" + strings.ReplaceAll(id, "/", "-")
}

// Paragraphs are the paragraphs of an explanation, each in one line.
func Paragraphs(text string) []string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return paragraphs
}
