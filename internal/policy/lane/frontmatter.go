package lane

import (
	"bytes"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// frontMatter extracts the YAML between the first two lines of three dashes in a Markdown file. The result begins with an empty line
// in place of the first of these lines, so that its line numbers are those of the file.
func frontMatter(data []byte) ([]byte, *small.Problem) {
	first, rest, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
	if !isFence(first) {
		return nil, &small.Problem{
			Kind: small.ProblemYAML, Pos: small.Pos{Line: 1, Column: 1},
			Message: "the file does not begin with front matter: the first line is not ---",
			Hint: "begin the file with a line ---, the YAML that names the phases, and another line ---; " +
				"if it is no workflow, add it to workflows: {exclude: [...]} in .small-gate.yml",
		}
	}
	end := 0
	for line := range bytes.Lines(rest) {
		if isFence(line) {
			return append([]byte("\n"), rest[:end]...), nil
		}
		end += len(line)
	}
	return nil, &small.Problem{
		Kind: small.ProblemYAML, Pos: small.Pos{Line: 1, Column: 1},
		Message: "the front matter has no end: there is no second line ---",
		Hint:    "put a line --- between the YAML and the prose",
	}
}

// isFence reports whether a line is three dashes followed only by white space.
func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r\n")) == "---" }

// parseFrontMatter reads the front matter as a document.
func parseFrontMatter(data []byte, limits small.Limits) (*small.Document, []small.Problem) {
	if small.IsLFSPointer(data) {
		return nil, replaceHints([]small.Problem{{Kind: small.ProblemNotAFile, Pos: small.Pos{Line: 1, Column: 1}, Message: "the file is a Git LFS pointer, not the file itself"}})
	}
	text, problem := frontMatter(data)
	if problem != nil {
		return nil, []small.Problem{*problem}
	}
	doc, problems := small.Parse(text, limits)
	return doc, replaceHints(problems)
}

// replaceHints gives the problems of an unreadable file other hints, because the parser's hints are about progress logs, and a position of at least 1:1.
func replaceHints(problems []small.Problem) []small.Problem {
	for i := range problems {
		p := &problems[i]
		p.Pos.Line, p.Pos.Column = max(p.Pos.Line, 1), max(p.Pos.Column, 1)
		p.Hint = "correct the file; " + wording.Docs + "workflows.md has an example"
		switch p.Kind {
		case small.ProblemTooLarge:
			p.Hint = "keep logs and outputs elsewhere; or raise the limit (limits: {file_size: BYTES} in .small-gate.yml)"
		case small.ProblemNotAFile:
			p.Hint = "remove it from the LFS patterns in .gitattributes and commit the file itself"
		}
	}
	return problems
}

// newProblem makes a problem at a position.
func newProblem(pos small.Pos, subject, hint, format string, args ...any) small.Problem {
	return small.Problem{Kind: small.ProblemSchema, Pos: pos, Subject: subject, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// clip shortens a text for a message.
func clip(s string) string { return wording.Clip(s) }
