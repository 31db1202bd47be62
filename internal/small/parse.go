package small

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/expression"
)

// Document is one parsed file.
type Document struct {
	// Root is the document's mapping.
	Root *Value
	// linked is true if the document uses anchors, aliases, merge keys or
	// explicit tags: its parts cannot be read one without the other.
	linked bool
	// column is the AppendColumn, where that is known.
	column int
	// Structure is how much of maxStructure the text takes.
	Structure int
}

// Linked reports whether the document uses anchors, aliases, merge keys or
// explicit tags, so that a part of its text may mean something else where it
// stands alone.
func (d *Document) Linked() bool { return d.linked }

// Parse reads one YAML document whose root is a mapping. It returns nil and
// the problems found when the bytes are not such a document; a document that
// is returned has unique string keys at every depth and no unresolved alias.
//
// Work and memory are bounded by limits whatever the bytes are.
func Parse(data []byte, limits Limits) (*Document, []Problem) {
	if int64(len(data)) > limits.FileSize() {
		return nil, []Problem{TooLarge(int64(len(data)), limits)}
	}
	structure, plain, problem := checkText(data, limits)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	if plain {
		if doc := parseLog(data); doc != nil {
			doc.Structure = structure
			return doc, nil
		}
	}
	return parseWhole(data, structure)
}

// parseWhole is the slow way of Parse, and the only one for what is no plain log.
func parseWhole(data []byte, structure int) (*Document, []Problem) {
	root, problem := decode(data, structure)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	doc, problems := build(root, len(data))
	if doc == nil {
		return nil, problems
	}
	doc.Structure = structure
	if problem := doc.readsAlike(data); problem != nil {
		return nil, []Problem{*problem}
	}
	return doc, problems
}

// TooLarge is the problem of a file of size bytes above the limit.
func TooLarge(size int64, limits Limits) Problem {
	return Problem{
		Kind:    ProblemTooLarge,
		Message: fmt.Sprintf("the file has %d bytes, the limit is %d", size, limits.FileSize()),
		Hint:    "keep logs and outputs outside .small/ and refer to them; or raise the limit (--max-file-size, or limits: {file_size: BYTES} in .small-gate.yml)",
	}
}

// decode runs the YAML parser and makes sure that there is exactly one
// document that holds something.
func decode(data []byte, structure int) (*yaml.Node, *Problem) {
	doc, second, err := scan(data)
	switch {
	case err != nil:
		return nil, syntaxProblem(data, err, structure)
	case doc == nil || doc.Kind != yaml.DocumentNode || len(doc.Content) != 1:
		return nil, &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: "the file is empty; a mapping is expected"}
	case second != nil:
		return nil, &Problem{
			Kind:    ProblemDocuments,
			Pos:     position(second),
			Message: "a second YAML document begins here; an artifact is exactly one",
			Hint:    "remove the line --- and what follows it, or merge it into the first document",
		}
	}
	return doc.Content[0], nil
}

// version12 is a directive of YAML 1.2 among the lines before a document.
var version12 = expression.Of(`\A(?:\x{FEFF})?(?:(?:[ \t]*(?:#[^\n]*)?|%[^\n]*)\r?\n)*?%YAML[ \t]+1\.(2)(?:[ \t\r\n]|\z)`)

// asVersion11 returns a text that says it is YAML 1.2 as one that says 1.1: the
// parser reads both alike, and refuses the newer name alone.
func asVersion11(data []byte) []byte {
	if !bytes.Contains(data, []byte("%YAML")) {
		return data
	}
	at := version12().FindSubmatchIndex(data)
	if at == nil {
		return data
	}
	data = bytes.Clone(data)
	data[at[2]] = '1'
	return data
}

// scan returns the first two documents of a text as far as they are there. The
// parser panics on a few malformed inputs, which is an error of the input
// here.
func scan(data []byte) (first, second *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			first, second, err = nil, nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(asVersion11(data)))
	var nodes [2]yaml.Node
	for i := range nodes {
		switch err := dec.Decode(&nodes[i]); {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return nil, nil, err
		case i == 0:
			return nil, nil, nil
		default:
			return &nodes[0], nil, nil
		}
	}
	return &nodes[0], &nodes[1], nil
}
