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

// EveryKey is the end of a remedy: where every key is explained.
const EveryKey = wording.Docs + "configuration.md lists every key"

// SchemaAddress is where editors find the schema: schema/config-v1.json, which a test makes from the one here.
const SchemaAddress = "https://raw.githubusercontent.com/small-gate/small-gate/main/schema/config-v1.json"

// The schema is draft-07 and uses only keywords that the engine enforces; a
// test checks that. It knows keys, types, enumerations and forms; what rules,
// patterns, days and paths there are is judged in Go.
//
//go:embed schema.json
var schemaText []byte

const digestForm = "sha256: followed by 64 lower-case hex digits"

// forms says what the schema's patterns ask for, by key.
var forms = map[string]string{"from": digestForm, "to": digestForm, "head": digestForm, "until": dayForm, "identity": "whole, or a mapping with without, only or without_lines", "since": "the full id of a commit"}

// schemaNode is the part of a schema that says which words are known where.
type schemaNode struct {
	Type       valueTypes             `json:"type"`
	Enum       []any                  `json:"enum"`
	Pattern    string                 `json:"pattern"`
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	Additional json.RawMessage        `json:"additionalProperties"`
}

// valueTypes are the types that a schema allows for a value.
type valueTypes []string

// UnmarshalJSON reads one type, or a list of them.
func (t *valueTypes) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = valueTypes{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

func vocabularyOf(text []byte) *schemaNode {
	root := new(schemaNode)
	if err := json.Unmarshal(text, root); err != nil {
		panic(fmt.Sprintf("the schema of the configuration is not JSON: %v", err))
	}
	return root
}

// words lists the strings of an enumeration.
func (n *schemaNode) words() []string {
	var out []string
	for _, e := range n.Enum {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// child is the schema of a member or item, nil if the schema knows none.
func (n *schemaNode) child(step string) *schemaNode {
	if c := n.Properties[step]; c != nil {
		return c
	}
	if _, err := strconv.Atoi(step); n.Items != nil && err == nil {
		return n.Items
	}
	var other *schemaNode
	if n.Items != nil || json.Unmarshal(n.Additional, &other) != nil {
		return nil // absent, true or false: it describes no value
	}
	return other
}

// advice completes a schema problem. It returns the word that was probably
// meant, and what to write for a value of the wrong type if the problem's own
// hint does not help. Subject is the problem's, value the value there.
func (k *Known) advice(subject, hint string, value *small.Value) (suggestion, better string) {
	steps, node := strings.Split(subject, "."), k.vocabulary()
	for i, step := range steps {
		next := node.child(step)
		if next == nil {
			if i == len(steps)-1 {
				return nearest(step, slices.Sorted(maps.Keys(node.Properties))), hint
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
		return nearest(text, words), hint
	case isText && slices.Contains(node.Type, "boolean"):
		return TruthWord(text), hint
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

// TruthWord is the boolean that people mean by a word which YAML 1.2 reads as
// a string; "" for another word.
func TruthWord(text string) string {
	switch strings.ToLower(text) {
	case "yes", "on", "y", "true":
		return "true"
	case "no", "off", "n", "false":
		return "false"
	}
	return ""
}
