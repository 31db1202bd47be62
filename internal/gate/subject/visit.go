package subject

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// Node is one member or element of a document.
type Node struct {
	Subject string
	// Keys are the mapping keys that lead here, outermost first.
	Keys  []string
	Field *small.Field // nil for list elements and the root
	Value *small.Value
}

// Visit visits every value of a document, depth first, in file order.
func Visit(root *small.Value, visit func(Node)) {
	var step func(Node)
	step = func(p Node) {
		visit(p)
		prefix := p.Subject
		if prefix != "" {
			prefix += "."
		}
		for i, item := range p.Value.Items {
			step(Node{Subject: fmt.Sprintf("%s%d", prefix, i), Keys: p.Keys, Value: item})
		}
		for i := range p.Value.Fields {
			f := &p.Value.Fields[i]
			keys := slices.Concat(p.Keys, []string{f.Key})
			step(Node{Subject: prefix + f.Key, Keys: keys, Field: f, Value: f.Value})
		}
	}
	if root != nil {
		step(Node{Value: root})
	}
}

// EntryIndex reads the entry's index out of a subject such as "entries.3.status".
func EntryIndex(subject string) (int, bool) {
	var i int
	if _, err := fmt.Sscanf(subject, "entries.%d", &i); err != nil {
		return 0, false
	}
	return i, true
}
