package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/report/content"
)

// explainWidth is the width of an explanation, in columns. Examples are not wrapped.
const explainWidth = 80

// Explain writes a rule for a person who sees it for the first time: its id, severity and summary, why it exists, an example that breaks the rule and
// one that keeps it. It returns the error of w.
func Explain(w io.Writer, rule rule.Rule) error {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "%s (%s)\n", rule.ID, ruleMarks(rule))
	wrap(&buf, "", rule.Summary)
	for _, paragraph := range content.Paragraphs(rule.Why) {
		buf.WriteByte('\n')
		wrap(&buf, "", paragraph)
	}
	writeExample(&buf, "Wrong", rule.Wrong)
	writeExample(&buf, "Right", rule.Right)
	buf.WriteByte('\n')
	wrap(&buf, "", exampleLegend(rule))
	return send(w, &buf)
}

// ExplainList writes a line for each rule, more for a long summary. It returns the error of w.
func ExplainList(w io.Writer, rules []rule.Rule) error {
	var buf bytes.Buffer
	widest := 0
	for i := range rules {
		widest = max(widest, len(rules[i].ID))
	}
	for i := range rules {
		summary := rules[i].Summary
		if rules[i].Severity != finding.SeverityError {
			summary += " (" + string(rules[i].Severity) + ")"
		}
		if rules[i].StrictOnly {
			summary += " (only in strict mode)"
		}
		wrap(&buf, fmt.Sprintf("%-*s", widest+2, rules[i].ID), summary)
	}
	buf.WriteByte('\n')
	wrap(&buf, "", "Findings are errors unless marked otherwise. `small-hook explain RULE` says why a rule exists, with examples.")
	return send(w, &buf)
}

// ruleMarks returns the rule's severity and whether it needs strict mode.
func ruleMarks(rule rule.Rule) string {
	if rule.StrictOnly {
		return string(rule.Severity) + ", only in strict mode"
	}
	return string(rule.Severity)
}

// writeExample writes an example's files, each under a label.
func writeExample(buf *bytes.Buffer, title, text string) {
	fmt.Fprintf(buf, "\n%s:\n", title)
	for _, f := range catalogue.ParseExample(text).Files {
		label := f.Path
		if step := f.StepName(); step != "" {
			label = step + ", " + label
		}
		if kind := f.Kind(); kind != "" {
			fmt.Fprintf(buf, "\n  %s %s\n", label, kind)
			continue
		}
		fmt.Fprintf(buf, "\n  %s\n", label)
		for line := range strings.Lines(strings.TrimRight(f.Content, "\n") + "\n") {
			buf.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
		}
	}
}

// exampleLegend says how to read the rule's examples.
func exampleLegend(rule rule.Rule) string {
	key := "Files that an example does not show are those of a valid workspace."
	for _, f := range catalogue.ParseExample(rule.Wrong).Files {
		if f.Step == "theirs" {
			return key + ` "ours" and "theirs" are two branches with such a workspace; "merge" merges theirs into ours.`
		}
	}
	return key
}

// wrap writes words after a label, in lines of at most explainWidth columns. Later lines are indented by the label's width.
func wrap(buf *bytes.Buffer, label, text string) {
	buf.WriteString(label)
	margin := utf8.RuneCountInString(label)
	column := margin
	for i, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+size > explainWidth:
			buf.WriteString("\n" + strings.Repeat(" ", margin))
			column = margin
		default:
			buf.WriteByte(' ')
			column++
		}
		buf.WriteString(word)
		column += size
	}
	buf.WriteByte('\n')
}
