package content

import "strings"

// ProjectPage is where the project is.
const ProjectPage = "https://github.com/small-gate/small-gate"

const rulesPage = ProjectPage + "/blob/main/docs/rules.md"

// RulePage is the address of a rule's section in the documentation.
func RulePage(id string) string { return rulesPage + "#" + strings.ReplaceAll(id, "/", "-") }

// Paragraphs are the paragraphs of an explanation, each in one line.
func Paragraphs(text string) []string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return paragraphs
}
