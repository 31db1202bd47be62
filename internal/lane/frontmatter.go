package lane

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// frontMatter cuts the YAML between the first two lines of three dashes out of
// a Markdown file. What it returns begins with an empty line in the place of the
// first of them, so that places in it are places in the file.
func frontMatter(data []byte) ([]byte, *small.Problem) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if !isFence(first) {
		return nil, &small.Problem{
			Kind: small.ProblemYAML, Pos: small.Pos{Line: 1, Column: 1},
			Message: "the file has no front matter; its first line is to be ---",
			Hint:    "begin the file with a line ---, the YAML that names the phases, and another line ---",
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
		Message: "the front matter has no end; a second line --- is expected",
		Hint:    "put a line --- between the YAML and the prose",
	}
}

// isFence reports whether a line is the three dashes, with nothing but white
// space behind them.
func isFence(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\r\n")) == "---"
}

// parseFrontMatter reads the front matter as a document.
func parseFrontMatter(data []byte, limits small.Limits) (*small.Document, []small.Problem) {
	if int64(len(data)) > limits.FileSize() {
		return nil, inWords([]small.Problem{small.TooLarge(int64(len(data)), limits)})
	}
	if small.IsLFSPointer(data) {
		return nil, []small.Problem{{
			Kind: small.ProblemNotAFile, Pos: small.Pos{Line: 1, Column: 1},
			Message: "the file is a Git LFS pointer, not the file itself",
			Hint:    "take it out of the LFS patterns in .gitattributes and commit the file itself",
		}}
	}
	text, problem := frontMatter(data)
	if problem != nil {
		return nil, []small.Problem{*problem}
	}
	doc, problems := small.Parse(text, limits)
	return doc, inWords(problems)
}

// inWords turns what is said of a log that cannot be read into what serves for
// a workflow or a record.
func inWords(problems []small.Problem) []small.Problem {
	for i := range problems {
		p := &problems[i]
		switch {
		case p.Kind == small.ProblemTooLarge:
			p.Hint = "keep logs and outputs elsewhere; or raise the limit (limits: {file_size: BYTES} in .small-gate.yml)"
		case p.Kind == small.ProblemNotAFile:
			p.Hint = "take it out of the LFS patterns in .gitattributes and commit the file itself"
		case p.Kind == small.ProblemDocuments:
			p.Message, p.Hint = "a second YAML document begins here; exactly one is expected", "remove it"
		case strings.Contains(p.Message, "conflict marker"):
			p.Hint = "resolve the conflict and remove the markers"
		case strings.Contains(p.Message, "is empty; a mapping"):
			p.Message, p.Hint = "nothing is written here; a mapping is expected", "say what the file is to say; see docs/workflows.md"
		}
	}
	return problems
}

// problem makes a problem at a place.
func problem(pos small.Pos, subject, hint, format string, args ...any) small.Problem {
	return small.Problem{Kind: small.ProblemSchema, Pos: pos, Subject: subject, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
