package threeway

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// three are the versions of one value; nil where a side has none.
type three struct{ base, ours, theirs *yaml.Node }

// merger merges trees of values.
type merger struct {
	// decide settles a value that both sides changed differently; nil if it cannot.
	decide func(path []string, v three) *yaml.Node
	// open are the values that are not settled.
	open []open
}

// open is a value that both sides changed differently.
type open struct {
	path []string
	three
}

// merge is the merged value at a path, nil for none.
func (m *merger) merge(path []string, v three) *yaml.Node {
	switch {
	case same(v.ours, v.theirs), same(v.base, v.theirs):
		return v.ours
	case same(v.base, v.ours), v.ours == nil:
		return v.theirs
	case v.theirs == nil:
		return v.ours
	case isMap(v.ours) && isMap(v.theirs):
		return m.mapping(path, v)
	case isTasks(path) && named(v.ours) && named(v.theirs):
		return m.tasks(path, v)
	}
	if value := m.decide(path, v); value != nil {
		return value
	}
	m.open = append(m.open, open{path, v})
	return v.ours
}

// mapping merges key by key. Keys that only the other side has are last.
func (m *merger) mapping(path []string, v three) *yaml.Node {
	out := *v.ours
	out.Content = nil
	add := func(key *yaml.Node) {
		value := m.merge(append(slices.Clone(path), key.Value), three{get(v.base, key.Value), get(v.ours, key.Value), get(v.theirs, key.Value)})
		if value != nil {
			out.Content = append(out.Content, key, value)
		}
	}
	for i := 0; i < len(v.ours.Content); i += 2 {
		add(v.ours.Content[i])
	}
	for i := 0; i < len(v.theirs.Content); i += 2 {
		if get(v.ours, v.theirs.Content[i].Value) == nil {
			add(v.theirs.Content[i])
		}
	}
	return &out
}

// tasks merges a plan's list by the ids of the tasks. Tasks that only the other side has are last.
func (m *merger) tasks(path []string, v three) *yaml.Node {
	out := *v.ours
	out.Content = nil
	base, ours, theirs := byID(v.base), byID(v.ours), byID(v.theirs)
	add := func(id string) {
		if value := m.merge(append(slices.Clone(path), id), three{base[id], ours[id], theirs[id]}); value != nil {
			out.Content = append(out.Content, value)
		}
	}
	for _, t := range v.ours.Content {
		add(idOf(t))
	}
	for _, t := range v.theirs.Content {
		if id := idOf(t); ours[id] == nil {
			add(id)
		}
	}
	return &out
}

// byID are the tasks of a list by their ids; of several with one id, the first.
func byID(list *yaml.Node) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, t := range items(list) {
		if id := idOf(t); id != "" && out[id] == nil {
			out[id] = t
		}
	}
	return out
}

// common is the common part of two values, nil for none.
func common(a, b *yaml.Node) *yaml.Node {
	if same(a, b) {
		return a
	}
	if a == nil || b == nil || a.Kind != b.Kind {
		return nil
	}
	out := *a
	out.Content = nil
	switch a.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(a.Content); i += 2 {
			if value := common(a.Content[i+1], get(b, a.Content[i].Value)); value != nil {
				out.Content = append(out.Content, a.Content[i], value)
			}
		}
	case yaml.SequenceNode:
		others := byID(b)
		for _, t := range a.Content {
			if value := common(t, others[idOf(t)]); value != nil {
				out.Content = append(out.Content, value)
			}
		}
	default:
		return nil
	}
	return &out
}

// same reports whether two values are equal, whatever their form. The order of keys does not count.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.MappingNode {
		for i := 0; i < len(a.Content); i += 2 {
			if !same(a.Content[i+1], get(b, a.Content[i].Value)) {
				return false
			}
		}
		return true
	}
	return a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}

func isMap(n *yaml.Node) bool { return n != nil && n.Kind == yaml.MappingNode }

// get is the value of a mapping's key, nil if there is none.
func get(n *yaml.Node, key string) *yaml.Node {
	if !isMap(n) {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// text is a scalar's text without the white space around it, as the protocol compares ids and statuses; empty for null.
func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// isTasks reports whether a path is a plan's list of tasks.
func isTasks(path []string) bool { return len(path) == 1 && path[0] == "tasks" }

func idOf(task *yaml.Node) string { return text(get(task, "id")) }

// items are the elements of a list; none for anything else.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// named reports whether every element of a list has a unique id.
func named(list *yaml.Node) bool {
	return list.Kind == yaml.SequenceNode && len(byID(list)) == len(list.Content)
}
