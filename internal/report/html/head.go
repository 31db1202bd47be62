package html

import (
	"html/template"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
)

// What the template gets is clean and bounded text, which it escapes for HTML.

type head struct {
	Policy               string
	Style                template.CSS
	Class                content.Level
	Sign, Words, Summary string
	Facts                []fact
	Notes                []string
	Failure              *failureSection
}

type fact struct{ Name, Value string }

type failureSection struct{ Message, Remedy string }

func headOf(r *finding.Report) head {
	words, level := content.Outcome(r)
	out := head{
		Policy: contentPolicy(), Style: template.CSS(pageStyle), // the project's own style sheet
		Words: words, Class: level, Summary: content.Summary(r) + ".",
		Sign: map[content.Level]string{content.Good: "✓", content.Warn: "!", content.Bad: "✗"}[level],
	}
	for _, f := range []fact{{"command", r.Mode}, {"base", r.Examined.Base}, {"head", r.Examined.Head}, {"policy", r.Examined.Policy}, {"read by", r.Examined.Reader}} {
		if f.Value != "" {
			out.Facts = append(out.Facts, fact{f.Name, content.Text(f.Value)})
		}
	}
	if len(r.Findings) > 0 {
		out.Facts = append(out.Facts, fact{"found", content.CountRules(content.BySeverity(r.Findings))})
	}
	if r.Strict {
		out.Facts = append(out.Facts, fact{"strict", "yes"})
	}
	if r.Lane != nil {
		out.Facts = append(out.Facts, fact{"lane", content.Lane(r.Lane)})
	}
	for _, note := range r.Examined.Notes[:min(len(r.Examined.Notes), content.MaxNotes)] {
		out.Notes = append(out.Notes, content.Text(note))
	}
	if f := content.Failure(r); f != nil {
		out.Failure = &failureSection{Message: content.UpperFirst(content.Text(strings.TrimSpace(f.Message))), Remedy: content.Lines(f.Remedy)}
	}
	return out
}
