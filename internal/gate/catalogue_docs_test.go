package gate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/rule"
)

//go:generate go test -count=1 -run ^TestRulesPage$ . -update

// rulesPage is the index of the rules; the folder rules beside it has a page for each family. They are made from the
// rules' values: `go generate ./internal/gate` writes them.
const rulesPage = "../../docs/rules.md"

// familyPage is where a family's page is.
func familyPage(family string) string { return "../../docs/rules/" + family + ".md" }

// TestRulesPage demands that the pages say what the rules say, and that no page of a removed family is left.
func TestRulesPage(t *testing.T) {
	want := renderRules(t)
	families := len(want) - 1
	want[messagesPage] = renderMessages(t)
	if *update {
		if err := errors.Join(os.RemoveAll("../../docs/rules"), os.Mkdir("../../docs/rules", 0o755)); err != nil {
			t.Fatal(err)
		}
		for page, text := range want {
			if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for page, text := range want {
		if diff := cmp.Diff(readFile(t, page), text); diff != "" {
			t.Errorf("%s is stale (-there +wanted): run go generate ./internal/gate\n%s", page, diff)
		}
	}
	if there, err := filepath.Glob(familyPage("*")); err != nil || len(there) != families {
		t.Errorf("%d pages for %d families (%v)", len(there), families, err)
	}
}

const rulesIntro = `# Rules

<!-- Made by "go generate ./internal/gate" from the rules' own values in internal/gate. Do not edit. -->

Each rule has an id, such as %s, which every finding names. Its page says why the rule is there,
with an example that breaks it and one that does not. In a terminal, %s prints the same.

An error blocks; a warning is printed and does not block; a note asks for nothing and is listed with --verbose. %s in %s gives a rule another
severity or switches it off. A rule marked strict speaks only with %s, or with %s in that file.

`

const exampleIntro = `## How to read the examples

Each rule has an example that breaks it and one that does not. They are files laid over a valid workspace, so
that they show what matters alone. Where a rule is about history, an example says which files a commit changes:
commit 1 is the first; *ours* and *theirs* are two branches from the last numbered commit (from the valid
workspace if there is none), and *merge* merges theirs into ours. Without a merge, theirs asks to be merged into
ours. *seen* is what a branch held when a witness last saw it, and *now* what it holds without any history that the
two share. The tests run all examples, in strict mode where the rule is strict, and as if today were 1 June 2026.

<details>
<summary>The valid workspace</summary>

`

// renderRules writes the pages, by their places.
func renderRules(t *testing.T) map[string]string {
	var index strings.Builder
	fmt.Fprintf(&index, rulesIntro, "`append-only/modified`", "`small-hook explain append-only/modified`", "`rules:`", "`.small-gate.yml`", "`--strict`", "`strict: true`")
	pages := map[string]string{}
	for rest := catalogue.All(); len(rest) > 0; {
		family, _, _ := strings.Cut(rest[0].ID, "/")
		n := slices.IndexFunc(rest, func(r rule.Rule) bool { return !strings.HasPrefix(r.ID, family+"/") })
		if n < 0 {
			n = len(rest)
		}
		if pages[familyPage(family)] != "" {
			t.Fatalf("%s: its family is there twice", rest[0].ID)
		}
		pages[familyPage(family)] = renderFamily(&index, family, rest[:n])
		rest = rest[n:]
	}
	index.WriteString(exampleIntro)
	renderExample(&index, readFile(t, "testdata/base.txtar"))
	index.WriteString("</details>\n")
	pages[rulesPage] = index.String()
	return pages
}

// renderFamily writes a family's part of the index, and returns its page.
func renderFamily(index *strings.Builder, family string, of []rule.Rule) string {
	judges := strings.TrimSpace(catalogue.Text(family))
	var page strings.Builder
	fmt.Fprintf(&page, familyIntro, family, judges)
	fmt.Fprintf(index, "## [%s](rules/%s.md)\n\n%s\n\n", family, family, strings.ReplaceAll(judges, "](../", "]("))
	index.WriteString("| rule | severity | says |\n| --- | --- | --- |\n")
	for _, r := range of {
		severity := string(r.Severity)
		if r.StrictOnly {
			severity += ", strict"
		}
		fmt.Fprintf(index, "| [%s](rules/%s.md#%s) | %s | %s |\n", r.ID, family, caseName(r.ID), severity, markdown(r.Summary))
		renderRule(&page, r)
	}
	index.WriteString("\n")
	return strings.TrimRight(page.String(), "\n") + "\n"
}

const familyIntro = `# Rules: %s

<!-- Made by "go generate ./internal/gate" from the rules' own values in internal/gate. Do not edit. -->

%s

[All rules](../rules.md) · [How to read the examples](../rules.md#how-to-read-the-examples)

`

func renderRule(b *strings.Builder, r rule.Rule) {
	strict := ""
	if r.StrictOnly {
		strict = ", in strict mode"
	}
	fmt.Fprintf(b, "<a id=%q></a>\n\n## %s\n\n", caseName(r.ID), r.ID)
	fmt.Fprintf(b, "*%s%s:* %s.\n\n%s\n\n", r.Severity, strict, markdown(r.Summary), markdown(strings.TrimSpace(r.Why)))
	b.WriteString("Wrong:\n\n")
	renderExample(b, r.Wrong)
	b.WriteString("Right:\n\n")
	renderExample(b, r.Right)
}

// renderExample writes the pieces of an example, each with a label.
func renderExample(b *strings.Builder, text string) {
	for _, f := range catalogue.ParseExample(text).Files {
		label := "`" + f.Path + "`"
		if f.Step != "" {
			label = f.StepName() + ", " + label
		}
		if f.Mode != "100644" {
			fmt.Fprintf(b, "- %s %s\n\n", label, f.Kind())
			continue
		}
		language := "yaml"
		if !strings.HasSuffix(f.Path, ".yml") {
			language = "text"
		}
		fmt.Fprintf(b, "- %s\n\n  ```%s\n", label, language)
		for line := range strings.Lines(strings.TrimRight(f.Content, "\n") + "\n") {
			b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
		b.WriteString("  ```\n\n")
	}
}

// markdown escapes what Markdown would take for more than text.
func markdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "<", "&lt;", "[", `\[`, "|", `\|`).Replace(s)
}
