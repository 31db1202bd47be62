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
	if !isFence(first, "---") {
		return nil, noFrontMatter(text)
	}
	end, number := 0, 1
	for line := range bytes.Lines(rest) {
		number++
		switch {
		case isFence(line, "---"):
			return append([]byte("\n"), rest[:end]...), nil
		case isFence(line, "..."):
			return nil, &small.Problem{
				Kind: small.ProblemYAML, Pos: small.Pos{Line: number, Column: 1},
				Message: "a line ... ends YAML, but the front matter ends in a line ---",
				Hint:    "write --- in the place of this line; or remove it, if the front matter goes on below",
			}
		}
		end += len(line)
	}
	return nil, &small.Problem{
		Kind: small.ProblemYAML, Pos: small.Pos{Line: 1, Column: 1},
		Message: "the front matter has no end; a second line --- is expected",
		Hint:    "put a line --- between the YAML and the prose",
	}
}

// noFrontMatter says why a text does not begin with front matter.
func noFrontMatter(text []byte) *small.Problem {
	p := &small.Problem{
		Kind: small.ProblemYAML, Pos: small.Pos{Line: 1, Column: 1},
		Message: "the file has no front matter; its first line is to be ---",
		Hint: "begin the file with a line ---, the YAML that names the phases, and another line ---; " +
			"if it is no workflow, add it to workflows: {exclude: [...]} in .small-gate.yml",
	}
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if first, _, _ := bytes.Cut(trimmed, []byte("\n")); isFence(first, "---") {
		p.Message = "the file does not begin with its front matter; the first line is to be ---"
		p.Hint = "remove the white space before ---"
	}
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		p.Message, p.Hint = "the file is UTF-16; UTF-8 is expected", "save the file as UTF-8"
	case bytes.HasPrefix(text, []byte("---\r")):
		p.Message, p.Hint = "the file's lines end in a carriage return alone", "save the file with line feeds"
	}
	return p
}

// isFence reports whether a line is three certain characters, with nothing but
// white space behind them.
func isFence(line []byte, fence string) bool {
	return string(bytes.TrimRight(line, " \t\r\n")) == fence
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
	problems = inWords(problems)
	for i := range problems {
		switch p := &problems[i]; {
		case strings.HasPrefix(p.Message, "nothing is written here"), strings.HasPrefix(p.Message, "the document is"):
			p.Hint = "name the phases, like this: phases: [{name: planning, agent: agents/planner.md}]"
		case p.Hint == "":
			p.Hint = "correct the YAML in this line; docs/workflows.md has an example"
		}
	}
	return doc, problems
}

// TooLargeHint says what to do about a workflow or a record that is too large.
const TooLargeHint = "keep logs and outputs elsewhere; or raise the limit (limits: {file_size: BYTES} in .small-gate.yml)"

// inWords turns what is said of a log that cannot be read into what serves for
// a workflow or a record.
func inWords(problems []small.Problem) []small.Problem {
	for i := range problems {
		p := &problems[i]
		switch {
		case p.Kind == small.ProblemTooLarge:
			p.Hint = TooLargeHint
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
