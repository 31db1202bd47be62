package small

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"gopkg.in/yaml.v3"
)

// Document is one parsed file.
type Document struct {
	// Root is a mapping; [ParseJSONValue] allows any value.
	Root *Value
	// linked is the result of Linked.
	linked bool
	// emptyFollows is true if an empty document follows this one.
	emptyFollows bool
	// appendColumn is the result of AppendColumn if it is known, else 0.
	appendColumn int
	// Structure counts the places in the text at which nodes can begin; see [StructureOf].
	Structure int
}

// Linked reports whether the document uses anchors, aliases, merge keys or
// explicit tags, so that a part of its text may mean something else by
// itself.
func (d *Document) Linked() bool { return d.linked }

// Parse reads one YAML document whose root is a mapping. It returns nil and
// the problems found when the bytes are not such a document; a document that
// is returned has unique string keys at every depth and no unresolved alias.
//
// Work and memory are bounded by limits whatever the bytes are.
func Parse(data []byte, limits Limits) (*Document, []Problem) {
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
	return parseWhole(data, structure, Map)
}

// ParseWorkspace is Parse for a workspace file: keys that the protocol does not know may hold any YAML, as no program
// reads them.
func ParseWorkspace(data []byte, limits Limits) (*Document, []Problem) {
	doc, problems := Parse(data, limits)
	if doc != nil {
		return doc, nil
	}
	structure, _, problem := checkText(data, limits)
	if problem != nil || problems[0].Kind != ProblemYAML || hasUnicodeBreak(data) {
		return nil, problems
	}
	root, _, problem := decode(data, structure, Map)
	if problem != nil {
		return nil, problems
	}
	nullUnknown(root, "small_version", "owner", "kind", "created_at", "updated_at", "run")
	if doc, _ := build(root, len(data), Map); doc != nil {
		return doc, nil
	}
	return nil, problems
}

// nullUnknown replaces the values of all keys but the known ones by null; below run it keeps only the replay id.
func nullUnknown(n *yaml.Node, known ...string) {
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		key := n.Content[i-1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Value == "run":
			nullUnknown(n.Content[i], "replay_id")
		case !isMerge(key) && !slices.Contains(known, key.Value):
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: nullTag, Line: key.Line, Column: key.Column}
		}
	}
}

// parseWhole is the slow way of Parse, for any text that parseLog does not read. The root has to be of the kind expected.
func parseWhole(data []byte, structure int, expected Kind) (*Document, []Problem) {
	root, emptyFollows, problem := decode(data, structure, expected)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	doc, problems := build(root, len(data), expected)
	if doc == nil {
		return nil, problems
	}
	doc.Structure, doc.emptyFollows = structure, emptyFollows
	if problem := doc.checkUnicodeBreaks(data); problem != nil {
		return nil, []Problem{*problem}
	}
	return doc, problems
}

// TooLarge returns the problem of a file whose size in bytes is above the limit.
func TooLarge(size int64, limits Limits) Problem {
	return Problem{
		Kind:    ProblemTooLarge,
		Message: fmt.Sprintf("the file has %d bytes, the limit is %d", size, limits.FileSize()),
		Hint:    "keep logs and outputs outside .small/ and refer to them; or raise the limit (--max-file-size, or limits: {file_size: BYTES} in .small-gate.yml)",
	}
}

// decode runs the YAML parser and requires that the first document, and no other, has content; emptyFollows is true if
// empty ones follow it. The problem of an empty file says which kind of root is expected.
func decode(data []byte, structure int, expected Kind) (root *yaml.Node, emptyFollows bool, problem *Problem) {
	doc, second, err := scanDocuments(data)
	switch {
	case err != nil && doc != nil:
		p := syntaxProblem(data, err, structure)
		p.Kind, p.Message = ProblemDocuments, "the YAML document ended above; no program reads what follows: "+p.Message
		return nil, false, p
	case err != nil:
		return nil, false, syntaxProblem(data, err, structure)
	case doc == nil || doc.Kind != yaml.DocumentNode || len(doc.Content) != 1:
		return nil, false, &Problem{Kind: ProblemYAML, Pos: Pos{1, 1}, Message: fmt.Sprintf("the file is empty; %s is expected", expected)}
	case second != nil && !isEmptyDocument(second):
		return nil, false, &Problem{
			Kind:    ProblemDocuments,
			Pos:     position(second),
			Message: "a second YAML document begins here, and a file must have exactly one",
			Hint:    "remove the line --- and what follows it, or merge it into the first document",
		}
	}
	return doc.Content[0], second != nil, nil
}

// scanDocuments returns a text's first document, and a second: the next one with content, or else the last empty one.
// An error that comes with a first document concerns the text after it. The parser panics on a few malformed inputs,
// which becomes an error here.
func scanDocuments(data []byte) (first, second *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for second == nil || isEmptyDocument(second) {
		var node yaml.Node
		switch err := dec.Decode(&node); {
		case errors.Is(err, io.EOF):
			return first, second, nil
		case err != nil:
			return first, second, err
		case first == nil:
			first = &node
		default:
			second = &node
		}
	}
	return first, second, nil
}

// isEmptyDocument reports whether a document has nothing but a marker and comments.
func isEmptyDocument(doc *yaml.Node) bool {
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" && n.Anchor == ""
}
