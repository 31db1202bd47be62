package gate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules"

	"github.com/google/go-cmp/cmp"
)

//go:generate go test -count=1 -run ^TestRulesPage$ . -update

// rulesPage is the page of all rules. It is made from the rules' values:
// `go generate ./internal/gate` writes it.
const rulesPage = "../../docs/rules.md"

// TestRulesPage demands that the page says what the rules say.
func TestRulesPage(t *testing.T) {
	want := renderRules(t)
	if *update {
		if err := os.WriteFile(rulesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(readFile(t, rulesPage), want); diff != "" {
		t.Errorf("docs/rules.md is stale (-there +wanted): run go generate ./internal/gate\n%s", diff)
	}
}

const rulesIntro = `# Rules

<!-- Made by "go generate ./internal/gate" from the rules' own values in internal/gate. Do not edit. -->

What the gate holds a workspace, its history and its own configuration to. %s prints one of these
sections in a terminal.

A finding of severity error blocks; a warning is said and does not block. A repository can give a rule another
severity, or switch it off, under %s in %s. Rules marked strict speak only in strict mode: with
%s, or with %s in the configuration.

The families validate, lint and verify judge files as they are, append-only and divergence how a log came to be
what it is, and config the gate's configuration.
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

// renderRules writes the page.
func renderRules(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, rulesIntro, "`small-hook explain RULE`", "`rules:`", "`.small-gate.yml`", "`--strict`", "`strict: true`")
	b.WriteString("\n| rule | severity | strict | says |\n| --- | --- | --- | --- |\n")
	for _, r := range rules.All() {
		strict := ""
		if r.StrictOnly {
			strict = "strict"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, caseName(r.ID), r.Severity, strict, markdown(r.Summary))
	}
	b.WriteString("\n" + exampleIntro)
	renderExample(&b, readFile(t, "testdata/base.txtar"))
	b.WriteString("</details>\n\n")
	family := ""
	for _, r := range rules.All() {
		if f, _, _ := strings.Cut(r.ID, "/"); f != family {
			family = f
			fmt.Fprintf(&b, "## %s\n\n", family)
		}
		renderRule(&b, r)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func renderRule(b *strings.Builder, r rule.Rule) {
	strict := ""
	if r.StrictOnly {
		strict = ", in strict mode"
	}
	fmt.Fprintf(b, "<a id=%q></a>\n\n### %s\n\n", caseName(r.ID), r.ID)
	fmt.Fprintf(b, "*%s%s:* %s.\n\n%s\n\n", r.Severity, strict, markdown(r.Summary), markdown(strings.TrimSpace(r.Why)))
	b.WriteString("Wrong:\n\n")
	renderExample(b, r.Wrong)
	b.WriteString("Right:\n\n")
	renderExample(b, r.Right)
}

// renderExample writes the pieces of an example, each with a label.
func renderExample(b *strings.Builder, text string) {
	for _, f := range rules.ParseExample(text).Files {
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
