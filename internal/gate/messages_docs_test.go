package gate_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
)

// messagesPage is where a person looks up what a hook has said. Its table is made with the pages of the rules.
const messagesPage = "../../docs/rejected.md"

// shownMessages are the rules in that table, one of each family that rejects commits; of other families the page names the guide.
var shownMessages = []string{
	"append-only/modified", "divergence/lost-entry", "validate/schema", "lint/blank", "verify/completed-evidence", "log/unreadable", "secret/credential",
	"ownership/human-artifact",
}

// messagesTable is the part of the page between the table's two comments.
var messagesTable = regexp.MustCompile(`(?s)(<!-- Made by "go generate ./internal/gate" [^>]*-->\n)(.*?)(\n<!-- end -->)`)

// renderMessages is the page with the messages that the rules' wrong examples bring about today.
func renderMessages(t *testing.T) string {
	t.Helper()
	page := readFile(t, messagesPage)
	place := messagesTable.FindStringSubmatchIndex(page)
	if place == nil {
		t.Fatalf("%s has no place for the messages", messagesPage)
	}
	var table strings.Builder
	table.WriteString("\n| the message | what it means | what to type |\n| --- | --- | --- |\n")
	shown := map[string]bool{}
	for _, id := range shownMessages {
		r, known := catalogue.Find(id)
		if !known {
			t.Fatalf("there is no rule %s", id)
		}
		family, _, _ := strings.Cut(id, "/")
		shown[family] = true
		f := messageOf(t, r)
		fmt.Fprintf(&table, "| [%s](rules/%s.md#%s): %s | %s | %s |\n", id, family, caseName(id), inCell(f.message), markdown(r.Summary), inCell(f.fix))
	}
	for _, r := range catalogue.All() {
		family, _, _ := strings.Cut(r.ID, "/")
		if r.Severity == finding.SeverityError && !r.StrictOnly && !shown[family] && !strings.Contains(page, "`"+family+"/`") {
			t.Errorf("%s says nothing about the family %s", messagesPage, family)
			shown[family] = true
		}
	}
	return page[:place[4]] + table.String() + page[place[5]:]
}

// messageOf is what a hook says about a rule's wrong example, as the next commit; if only CI sees it, what CI says.
func messageOf(t *testing.T, r rule.Rule) found {
	t.Helper()
	isIt := func(f found) bool { return f.rule == r.ID }
	all := newExample(t, asNextCommit(r.Wrong)).judge(t, settings{index: true, agent: "agent-2"})
	if !slices.ContainsFunc(all, isIt) {
		all = newExample(t, r.Wrong).judge(t, settings{})
	}
	at := slices.IndexFunc(all, isIt)
	if at < 0 {
		t.Fatalf("%s: the example does not break it", r.ID)
	}
	return all[at]
}

var fileOfExample = regexp.MustCompile(`(?m)^-- (1/)?(.+) --$`)

// asNextCommit is an example whose files, if they are those of one commit, come after the valid workspace.
func asNextCommit(text string) string {
	for _, f := range catalogue.ParseExample(text).Files {
		if f.Step != "" && f.Step != "1" {
			return text
		}
	}
	return "-- 1/readme --\n" + fileOfExample.ReplaceAllString(text, "-- 2/$2 --")
}

// inCell is a text of Markdown for a cell of a table. What stands in backticks stays as it is.
func inCell(text string) string {
	pieces := strings.Split(text, "`")
	for i := range pieces {
		if i%2 == 0 {
			pieces[i] = markdown(pieces[i])
		} else {
			pieces[i] = strings.ReplaceAll(pieces[i], "|", `\|`)
		}
	}
	return strings.Join(pieces, "`")
}
