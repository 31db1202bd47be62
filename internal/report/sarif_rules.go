package report

import (
	"regexp"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/rules"
)

const (
	projectPage = "https://github.com/small-gate/small-gate"
	rulesPage   = projectPage + "/blob/main/docs/rules.md"

	// maxDescription is how many characters of a description GitHub takes.
	maxDescription = 1024
)

// sarifNotices are the kinds of notifications.
var sarifNotices = []sarifDescriptor{
	sarifNotice(cannotJudge, "What was asked for could not be judged, or not to the end.",
		"The message names what is missing and what provides it. This is neither a pass nor a finding."),
	sarifNotice(leftOut, "There are more results than this file holds.",
		"Code scanning keeps 5,000 results of a run. The JSON report lists all."),
	sarifNotice(worthKnowing, "Something that a reader has to know.",
		"Such as replace refs, which git follows and the judgement does not."),
}

func sarifNotice(id, summary, help string) sarifDescriptor {
	return sarifDescriptor{
		ID: id, ShortDescription: sarifText{summary}, FullDescription: &sarifText{summary + " " + help},
		Help: &sarifHelp{Text: help, Markdown: help}, HelpURI: projectPage,
	}
}

// notice refers to a kind of notification.
func notice(id string) sarifReference {
	for i := range sarifNotices {
		if sarifNotices[i].ID == id {
			return sarifReference{ID: id, Index: i}
		}
	}
	return sarifReference{ID: id, Index: -1}
}

// sarifRules describes every rule, and says where in the list each is. Rules
// do not change, so it is done once.
var sarifRules = sync.OnceValues(describeRules)

func describeRules() (descriptors []sarifDescriptor, index map[string]int) {
	index = map[string]int{}
	all := rules.All()
	descriptors = make([]sarifDescriptor, len(all))
	for i := range all {
		rule := &all[i]
		index[rule.ID] = i
		family, _, _ := strings.Cut(rule.ID, "/")
		tags := []string{family}
		if rule.StrictOnly {
			tags = append(tags, "strict")
		}
		page := rulePage(rule.ID)
		descriptors[i] = sarifDescriptor{
			ID:                   rule.ID,
			ShortDescription:     sarifText{upperFirst(sentence(rule.Summary))},
			FullDescription:      &sarifText{firstSentences(unwrap(rule.Why), maxDescription)},
			Help:                 &sarifHelp{Text: unwrap(rule.Why) + "\n\n" + page, Markdown: ruleMarkdown(rule, page)},
			HelpURI:              page,
			DefaultConfiguration: &sarifConfig{Level: sarifLevel(rule.Severity)},
			Properties:           sarifProperties{"tags": tags},
		}
	}
	return descriptors, index
}

// rulePage is the address of a rule's section in the documentation.
func rulePage(id string) string { return rulesPage + "#" + strings.ReplaceAll(id, "/", "-") }

// unwrap puts each paragraph into one line.
func unwrap(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// firstSentences are as many whole sentences of the first paragraph as fit
// into limit bytes.
func firstSentences(text string, limit int) string {
	text, _, _ = strings.Cut(text, "\n\n")
	if len(text) <= limit {
		return text
	}
	if end := strings.LastIndex(text[:limit], ". "); end >= 0 {
		return text[:end+1]
	}
	return wholeRunes(text, limit)
}

// wholeRunes is as much of a text as fits into limit bytes without splitting a
// character.
func wholeRunes(s string, limit int) string {
	for limit > 0 && !starts(s, limit) {
		limit--
	}
	return s[:limit]
}

// upperFirst begins a sentence.
func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// ruleMarkdown is a rule's explanation with its examples.
func ruleMarkdown(rule *rule.Rule, page string) string {
	var b strings.Builder
	b.WriteString(escapeMarkdown(unwrap(rule.Why)) + "\n")
	for _, example := range []struct{ title, text string }{{"Wrong", rule.Wrong}, {"Right", rule.Right}} {
		b.WriteString("\n**" + example.title + "**\n")
		for _, f := range rules.ParseExample(example.text).Files {
			label := codeSpan(f.Path)
			if step := f.StepName(); step != "" {
				label = step + ", " + label
			}
			if kind := f.Kind(); kind != "" {
				b.WriteString("\n" + label + " " + escapeMarkdown(kind) + "\n")
				continue
			}
			b.WriteString("\n" + label + "\n\n" + fenced("yaml", f.Content))
		}
	}
	b.WriteString("\n[" + rule.ID + "](" + page + ")\n")
	return b.String()
}

var release = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)

// semanticVersion is the version without its v, empty for a build that is no
// release.
func semanticVersion(version string) string {
	if m := release.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return ""
}
