package sarif

import (
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/markdown"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// maxDescription is GitHub's limit for a description, in characters. It is applied to bytes.
const maxDescription = 1024

// noteID is the id of notifications that carry the report's notes.
const noteID = "note"

// notices are the kinds of notifications.
var notices = []descriptor{
	notice(content.CouldNotJudge, "Something could not be judged.",
		"The message names what is missing and what provides it. This is neither a pass nor a finding."),
	notice(content.LeftOut, "There are more results than this file holds.",
		"Code scanning keeps 5,000 results of a run. The message says how many are left out, and which report lists more."),
	notice(noteID, "Something to know about this run.",
		"For example, that git follows replace refs, which small-gate ignores."),
}

func notice(id, summary, explanation string) descriptor {
	return descriptor{
		ID: id, ShortDescription: text{summary}, FullDescription: &text{summary + " " + explanation},
		Help: &help{Text: explanation, Markdown: explanation}, HelpURI: wording.Project,
	}
}

func noticeReference(id string) reference {
	return reference{ID: id, Index: slices.IndexFunc(notices, func(d descriptor) bool { return d.ID == id })}
}

// ruleDescriptors describes the rules of a report's findings, in the catalogue's order, with each rule's index in the list.
func ruleDescriptors(r *finding.Report) (descriptors []descriptor, index map[string]int) {
	fired := map[string]bool{}
	for _, list := range [][]finding.Finding{r.Findings, r.Waived} {
		for i := range list {
			fired[list[i].Rule] = true
		}
	}
	descriptors, index = []descriptor{}, map[string]int{}
	for _, rule := range catalogue.All() {
		if !fired[rule.ID] {
			continue
		}
		index[rule.ID] = len(descriptors)
		family, _, _ := strings.Cut(rule.ID, "/")
		tags := []string{family}
		if rule.StrictOnly {
			tags = append(tags, "strict")
		}
		page, why := content.RulePage(rule.ID), content.Paragraphs(rule.Why)
		descriptors = append(descriptors, descriptor{
			ID:                   rule.ID,
			ShortDescription:     text{content.UpperFirst(content.Sentence(rule.Summary))},
			FullDescription:      &text{firstSentences(why[0], maxDescription)},
			Help:                 &help{Text: strings.Join(why, "\n\n") + "\n\n" + page, Markdown: markdown.Rule(&rule)},
			HelpURI:              page,
			DefaultConfiguration: &config{Level: string(rule.Severity)},
			Properties:           properties{"tags": tags},
		})
	}
	return descriptors, index
}

// firstSentences returns as many whole sentences as fit into limit bytes.
func firstSentences(paragraph string, limit int) string {
	if len(paragraph) <= limit {
		return paragraph
	}
	if end := strings.LastIndex(paragraph[:limit], ". "); end >= 0 {
		return paragraph[:end+1]
	}
	return sanitize.CutBytes(paragraph, limit)
}
