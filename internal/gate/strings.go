package gate

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// place is one member or element on the way through a document.
type place struct {
	subject string
	// keys are the mapping keys that lead here, outermost first.
	keys  []string
	field *small.Field // nil for list elements and the root
	value *small.Value
}

// walk visits every value of a document, depth first, in the order of the
// file.
func walk(root *small.Value, visit func(place)) {
	var step func(place)
	step = func(p place) {
		visit(p)
		prefix := p.subject
		if prefix != "" {
			prefix += "."
		}
		for i, item := range p.value.Items {
			step(place{subject: fmt.Sprintf("%s%d", prefix, i), keys: p.keys, value: item})
		}
		for i := range p.value.Fields {
			f := &p.value.Fields[i]
			keys := slices.Concat(p.keys, []string{f.Key})
			step(place{subject: prefix + f.Key, keys: keys, field: f, value: f.Value})
		}
	}
	if root != nil {
		step(place{value: root})
	}
}

// eachCanonical walks the canonical artifacts, progress entries under the
// baseline left out.
func (w *Workspace) eachCanonical(visit func(small.Artifact, place)) {
	for _, a := range small.Artifacts {
		if !a.Canonical() {
			continue
		}
		walk(w.doc(a), func(p place) {
			if i, ok := entryIndex(p.subject); a == small.Progress && ok && i < w.baseline {
				return
			}
			visit(a, p)
		})
	}
}
