package policy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
)

// EveryKey ends remedies: it says where all keys are explained.
const EveryKey = wording.Docs + "configuration.md lists every key"

// SchemaAddress is where editors find the schema: schema/config-v1.json, which a test generates from this package's schema and those of sections.
const SchemaAddress = "https://raw.githubusercontent.com/small-gate/small-gate/main/schema/config-v1.json"

// The schema is draft-07. A test checks that it uses only keywords that this
// program enforces. It describes keys, types, enumerations and forms of text. Go
// code checks rule ids, patterns, days and paths.
//
//go:embed schema.json
var schemaText []byte

const digestForm = "sha256: followed by 64 lower-case hex digits"

// forms describes the schema's regular expressions in words, by the key that has one.
var forms = map[string]string{"from": digestForm, "to": digestForm, "head": digestForm, "until": dayForm, "identity": "whole, or a mapping with without, only or without_lines", "since": "the full id of a commit"}

// schemaNode is the part of a schema that says which keys and words are allowed where.
type schemaNode struct {
	Type       valueTypes             `json:"type"`
	Enum       []any                  `json:"enum"`
	Pattern    string                 `json:"pattern"`
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	Additional json.RawMessage        `json:"additionalProperties"`
}

// valueTypes are the allowed types of a value.
type valueTypes []string

// UnmarshalJSON reads one type or a list of types.
func (t *valueTypes) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = valueTypes{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// parseVocabulary reads a schema, which must be valid JSON.
func parseVocabulary(text []byte) *schemaNode {
	root := new(schemaNode)
	if err := json.Unmarshal(text, root); err != nil {
		panic(fmt.Sprintf("the schema of the configuration is not JSON: %v", err))
	}
	return root
}

// words returns the strings of the node's enumeration.
func (n *schemaNode) words() []string {
	var out []string
	for _, e := range n.Enum {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// child returns the schema of a member (by key) or of an item (by index); nil if
// there is none.
func (n *schemaNode) child(step string) *schemaNode {
	if c := n.Properties[step]; c != nil {
		return c
	}
	if _, err := strconv.Atoi(step); n.Items != nil && err == nil {
		return n.Items
	}
	var other *schemaNode
	if n.Items != nil || json.Unmarshal(n.Additional, &other) != nil {
		return nil // additionalProperties is absent, true or false, and so no schema
	}
	return other
}

// advise returns what to add to a problem that the schema found: the word that
// was probably meant, and a hint, which is the problem's own one unless a better
// one is known. value is the value at the problem's subject; it may be nil.
func (k *Known) advise(subject, hint string, value *small.Value) (suggestion, better string) {
	steps, node := strings.Split(subject, "."), k.vocabulary()
	for i, step := range steps {
		next := node.child(step)
		if next == nil {
			if i == len(steps)-1 {
				return nearestWord(step, slices.Sorted(maps.Keys(node.Properties))), hint
			}
			return "", hint
		}
		node = next
	}
	if value == nil {
		return "", hint
	}
	text, isText := value.Str()
	words := node.words()
	switch {
	case isText && len(words) > 0:
		return nearestWord(text, words), hint
	case isText && slices.Contains(node.Type, "boolean"):
		return boolMeant(text, hint)
	case value.Kind == small.Bool && slices.Contains(words, string(Off)) && strings.EqualFold(value.Text, "false"):
		return string(Off), ""
	case len(words) > 0:
		return "", "write " + strings.Join(words, " or ")
	case node.Pattern != "" && !isText:
		return "", "write " + forms[steps[len(steps)-1]]
	case slices.Contains(node.Type, "array") && value.Kind == small.Null:
		return "", "write [] for none, or remove the key"
	}
	return "", hint
}

// boolMeant returns the boolean that people mean by a word that YAML 1.2 reads as
// a string, such as yes; "" for other words. A word in quotes gets another hint.
func boolMeant(text, hint string) (meant, better string) {
	if text == "true" || text == "false" {
		return "", "remove the quotes"
	}
	switch strings.ToLower(text) {
	case "yes", "on", "y", "true":
		return "true", hint
	case "no", "off", "n", "false":
		return "false", hint
	}
	return "", hint
}
