package wording

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// term is a row of docs/glossary.md: a word of ours, its meaning, and the words not to use for it.
type term struct{ word, meaning, not string }

var termRow = regexp.MustCompile(`(?m)^\| <a id="([\w-]+)"></a>\*\*([^*]+)\*\* \| (.*?) \| (.*?) ?\|$`)

func glossary(t *testing.T) (terms []term) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range termRow.FindAllStringSubmatch(string(page), -1) {
		if strings.ReplaceAll(m[2], " ", "-") != m[1] {
			t.Errorf("%s has the anchor %s", m[2], m[1])
		}
		terms = append(terms, term{word: m[2], meaning: m[3], not: m[4]})
	}
	if rows := strings.Count(string(page), "\n| ") - 2; rows != len(terms) || rows < 15 || rows > 20 {
		t.Errorf("%d of %d rows are understood; there are to be 15 to 20", len(terms), rows)
	}
	return terms
}

var (
	// notProse matches quotations in a page or a message: code, addresses, a page's comments, and text in quotes.
	notProse = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|<!--.*?-->|<a id=\"[^\"]*\">|\\]\\([^)]*\\)|https?://\\S+")
	// theirs are other programs' own words, which we have to use to name what is theirs.
	theirs = regexp.MustCompile(`(?i)(pipeline execution|security|branch) polic(y|ies)|policy/\S*|verify/policy|acme/policies|` +
		`policy file of SMALL|the policy changes only|of\s+the\s+mode,\s+of\s+the\s+policy|the mode, the policy|\.small/policy|changed the policy, either`)
)

// prose is a text without what is quoted in it.
func prose(text string) string {
	return theirs.ReplaceAllString(notProse.ReplaceAllString(text, " "), " ")
}

// pages are the README and the pages in docs, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range append(names, "../../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

// TestGlossary demands that each word of ours has a meaning and is used, and that no page and no message says another word for it.
func TestGlossary(t *testing.T) {
	terms := glossary(t)
	texts := pages(t)
	delete(texts, "glossary.md")
	everything := strings.Builder{}
	for _, text := range texts {
		everything.WriteString(strings.ToLower(text))
	}
	for _, pattern := range []string{"docs/rules/*.md", "skills/*/*.md", "CHANGELOG.md", "templates/*.yml"} {
		names, err := filepath.Glob("../../../" + pattern)
		if err != nil || len(names) == 0 {
			t.Fatal("there is no ", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	for _, m := range messages(t) {
		if strings.Contains(m[1], " ") && !strings.HasPrefix(m[0], "../../testkit/") { // a sentence, and no key or name
			texts[m[0]] = m[1]
		}
	}
	for _, term := range terms {
		if term.meaning == "" || !strings.Contains(everything.String(), term.word) {
			t.Errorf("%q means %q, and is it used?", term.word, term.meaning)
		}
		for other := range strings.SplitSeq(term.not, ", ") {
			if other == "" {
				continue
			}
			said := regexp.MustCompile(`(?i)\b` + other + `(s|ies)?\b`)
			for place, text := range texts {
				if at := said.FindStringIndex(prose(text)); at != nil {
					t.Errorf("%s says %q, where we say %q: …%s…", place, other, term.word, around(prose(text), at[0]))
				}
			}
		}
	}
}

// ours are words that the design, the code or its configuration use in a sense of their own. Where one is said to readers, the glossary has it.
var ours = strings.Fields("baseline digest draft edge entry excerpt exit-status finding fingerprint floor harness head lane lease ledger log " +
	"neighbour published reader replay-id rotated rule run signal snapshot stanza trusted-side waiver witness workspace")

// explained are the sections of the configuration that need no word of ours, or that a page of their own explains.
var explained = strings.Fields("version strict mode append_only agents extensions limits workflows")

// TestOursAreInTheGlossary demands that the glossary has, in bold, each word of ours that the README, a guide or a message says, and each
// section of the configuration.
func TestOursAreInTheGlossary(t *testing.T) {
	page, err := os.ReadFile("../../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../../../schema/config-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var sections struct{ Properties map[string]any }
	if err := json.Unmarshal(schema, &sections); err != nil || len(sections.Properties) < 10 {
		t.Fatalf("%d sections: %v", len(sections.Properties), err)
	}
	words := slices.Clone(ours)
	for section := range sections.Properties {
		if !slices.Contains(explained, section) {
			words = append(words, strings.TrimSuffix(section, "s"))
		}
	}
	texts := pages(t)
	delete(texts, "glossary.md")
	for _, m := range messages(t) {
		if strings.Contains(m[1], " ") && !strings.HasPrefix(m[0], "../../testkit/") {
			texts[m[0]] = m[1]
		}
	}
	for _, word := range words {
		word = strings.ReplaceAll(word, "-", " ")
		if strings.Contains(string(page), "**"+word+"**") {
			continue
		}
		said := regexp.MustCompile(`(?i)\b` + word + `s?\b`)
		for place, text := range texts {
			if at := said.FindStringIndex(prose(text)); at != nil {
				t.Errorf("%s says %q, which the glossary does not have: …%s…", place, word, around(prose(text), at[0]))
				break
			}
		}
	}
}

func around(text string, at int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[max(0, at-40):min(len(text), at+40)], "\n", " "), "")
}

// taskPages are those on which a stranger begins; everyday are the words of the glossary that they understand without it.
var (
	taskPages = strings.Fields("README.md adopt.md agents.md sync.md reconcile.md rejected.md next-run.md logs.md required-check.md waive.md installation.md harnesses.md fleet.md")
	everyday  = "log entry run rule finding configuration published exit status"
	pageLink  = regexp.MustCompile(`\[[^\]]*\]\([^)]*\.md[^)]*\)`)
	title     = regexp.MustCompile(`(?m)^#.*$`)
)

// TestWordsAreLinked demands that a task page links each word of ours where it first says it.
func TestWordsAreLinked(t *testing.T) {
	texts := pages(t)
	linked := 0
	for _, term := range glossary(t) {
		if strings.Contains(everyday, term.word) {
			continue
		}
		said := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(term.word, " ", `\s+`) + `s?\b`)
		for _, name := range taskPages {
			if texts[name] == "" {
				t.Fatalf("there is no page %s", name)
			}
			text := regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`|<!--.*?-->|https?://\\S+").ReplaceAllString(title.ReplaceAllString(texts[name], ""), "")
			first := said.FindStringIndex(text)
			if first == nil {
				continue
			}
			linked++
			inside := false
			for _, link := range pageLink.FindAllStringIndex(text, -1) {
				inside = inside || link[0] <= first[0] && first[0] < link[1]
			}
			if !inside {
				t.Errorf("%s does not link %q where it first says it: …%s…", name, term.word, around(text, first[0]))
			}
		}
	}
	if linked < 20 {
		t.Errorf("only %d words", linked)
	}
}

// The limits of the pages, in words. Reference pages are looked up; all others are read, but for those about rules, which are generated.
const (
	mostWords      = 24000
	mostInGuide    = 1500
	mostInLookedUp = 2500
)

var lookedUp = strings.Fields("ci-systems.md commands.md configuration.md reports.md small.md")

// TestPagesAreShort holds the README and the pages to what a reader has patience for.
func TestPagesAreShort(t *testing.T) {
	all := 0
	for name, text := range pages(t) {
		if name == "rules.md" {
			continue
		}
		words, most := len(strings.Fields(text)), mostInGuide
		if slices.Contains(lookedUp, name) {
			most = mostInLookedUp
		}
		if all += words; words > most {
			t.Errorf("%s has %d words, and not at most %d", name, words, most)
		}
	}
	if all > mostWords {
		t.Errorf("the pages have %d words, and not at most %d: say each thing once", all, mostWords)
	}
}

// TestSources demands that pages which describe others' programs, in ways that no test can check, say where and when that was looked up.
func TestSources(t *testing.T) {
	texts := pages(t)
	sources := regexp.MustCompile(`(?s)<!-- Sources, looked up \d{4}-\d\d-\d\d:\n.*?\w.*?-->`)
	for name := range strings.FieldsSeq("github.md gitlab.md required-check.md fleet.md installation.md reports.md commands.md witness.md ci-systems.md harnesses.md") {
		if !sources.MatchString(texts[name]) {
			t.Errorf("%s has no comment with its sources", name)
		}
	}
}
