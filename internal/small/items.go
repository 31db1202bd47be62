package small

import (
	"bytes"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// ParseItems returns the items of the list under a dotted path of keys in a YAML or JSON document; an empty path is
// the document itself. The result is nil exactly if there are problems.
func ParseItems(data []byte, isJSON bool, path string, limits Limits) ([]*Value, []Problem) {
	doc, problems := parseList(data, isJSON, path == "", limits)
	if doc == nil {
		return nil, problems
	}
	list := doc.Root
	for key := range strings.SplitSeq(path, ".") {
		if path == "" {
			break
		}
		next := list.Get(key)
		if next == nil {
			return nil, []Problem{{Kind: ProblemSchema, Pos: list.Pos, Subject: path, Message: "there is no list at " + wording.Quote(path) + `: the key ` + wording.Quote(key) + " is missing"}}
		}
		list = next
	}
	if list.Kind != List {
		return nil, []Problem{{Kind: ProblemSchema, Pos: list.Pos, Subject: path, Message: wording.Quote(path) + " is " + list.Kind.String() + "; a list is expected"}}
	}
	return append([]*Value{}, list.Items...), nil
}

// parseList parses a document whose root is a mapping, or a list if rootIsList. A byte order mark may begin it, and no position counts it.
func parseList(data []byte, isJSON, rootIsList bool, limits Limits) (*Document, []Problem) {
	if isJSON {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	switch {
	case isJSON && rootIsList:
		return parseJSON(data, limits, List)
	case isJSON:
		return ParseJSON(data, limits)
	case !rootIsList:
		return Parse(data, limits)
	}
	structure, _, problem := checkText(data, limits)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	return parseWhole(data, structure, List)
}
