package small

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Document is one parsed file.
type Document struct {
	// Root is the document's mapping.
	Root *Value
	// linked is true if the document uses anchors, aliases, merge keys or
	// explicit tags: its parts cannot be read one without the other.
	linked bool
}

// Parse reads one YAML document whose root is a mapping. It returns nil and
// the problems found when the bytes are not such a document; a document that
// is returned has unique string keys at every depth and no unresolved alias.
//
// Work and memory are bounded by limits whatever the bytes are.
func Parse(data []byte, limits Limits) (*Document, []Problem) {
	if int64(len(data)) > limits.FileSize() {
		return nil, []Problem{TooLarge(int64(len(data)), limits)}
	}
	if p := checkText(data); p != nil {
		return nil, []Problem{*p}
	}
	root, problem := decode(data)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	return build(root)
}

// TooLarge is the problem of a file of size bytes above the limit.
func TooLarge(size int64, limits Limits) Problem {
	return Problem{
		Kind:    ProblemTooLarge,
		Message: fmt.Sprintf("the file has %d bytes, the limit is %d", size, limits.FileSize()),
		Hint:    "keep logs and outputs outside .small/ and refer to them; or raise the limit with --max-file-size",
	}
}

// decode runs the YAML parser and makes sure that there is exactly one
// document. The parser panics on a few malformed inputs, which is a problem of
// the input here.
func decode(data []byte) (root *yaml.Node, problem *Problem) {
	defer func() {
		if r := recover(); r != nil {
			root, problem = nil, &Problem{Kind: ProblemYAML, Message: fmt.Sprintf("not YAML: %v", r)}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: "the file is empty; a mapping is expected"}
	case err != nil:
		return nil, syntaxProblem(err)
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntaxProblem(err)
	default:
		return nil, &Problem{
			Kind:    ProblemDocuments,
			Pos:     Pos{max(second.Line, 1), max(second.Column, 1)},
			Message: "a second YAML document begins here; an artifact is exactly one",
			Hint:    "remove the `---` line and what follows it, or merge it into the first document",
		}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: "the file holds no document; a mapping is expected"}
	}
	return doc.Content[0], nil
}

var errorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxProblem turns the parser's error text into a problem. The parser
// gives a line at most.
func syntaxProblem(err error) *Problem {
	text := err.Error()
	p := &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}}
	if m := errorLine.FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil && n > 0 {
			p.Pos.Line = n
		}
		text = strings.TrimPrefix(text, m[0])
	}
	p.Message = "not YAML: " + text
	if strings.Contains(text, "character that cannot start any token") || strings.Contains(text, "tab") {
		p.Hint = "YAML indents with spaces; a tab may not stand there"
	}
	return p
}
