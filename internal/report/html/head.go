package html

import (
	"html/template"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

// The template gets texts that are sanitised and shortened, and escapes them for HTML.

type head struct {
	Policy               string
	Style                template.CSS
	Class                content.Level
	Sign, Words, Summary string
	// Place is the repository and the branch; empty if neither is known.
	Place   string
	Facts   []fact
	Notes   []string
	Failure *failureSection
}

// fact is a name and a value, optionally with a link.
type fact struct{ Name, Value, Link string }

type failureSection struct {
	Message string
	Remedy  []content.Step
}

func headOf(r *finding.Report) head {
	words, level := content.Outcome(r)
	x := &r.Examined
	out := head{
		Policy: contentPolicy(), Style: template.CSS(pageStyle), // the project's own style sheet
		Words: words, Class: level, Summary: content.Summary(r) + ".", Place: content.Name(x.Repository),
		Sign: map[content.Level]string{content.Good: "✓", content.Warn: "!", content.Bad: "✗"}[level],
	}
	if x.Branch != "" {
		out.Place = strings.TrimPrefix(out.Place+", branch "+content.Name(x.Branch), ", ")
	}
	add := func(name, value, link string) {
		if value != "" {
			out.Facts = append(out.Facts, fact{name, content.Text(value), link})
		}
	}
	add("command", r.Mode, "")
	for _, c := range []struct{ name, id string }{{"base", x.Base}, {"head", x.Head}} {
		commit := content.CommitOf(r, c.id)
		add(c.name, strings.TrimSpace(commit.ID+" "+commit.Subject), commit.Page)
	}
	add("read by", x.Reader, "")
	if r.Strict {
		add("strict", "yes", "")
	}
	if r.Lane != nil {
		add("lane", content.Lane(r.Lane), "")
	}
	for _, note := range x.Notes[:min(len(x.Notes), content.MaxNotes)] {
		out.Notes = append(out.Notes, sanitize.Clip(note, content.LineWidth(note)))
	}
	if f := content.Failure(r); f != nil {
		out.Failure = &failureSection{Message: content.UpperFirst(content.Text(strings.TrimSpace(f.Message))), Remedy: content.Steps(f.Remedy)}
	}
	return out
}
