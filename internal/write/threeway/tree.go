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
	// decide returns the merged value where both sides changed one differently; nil if it cannot decide.
	decide func(path []string, v three) *yaml.Node
	// conflicts are the values that decide could not decide.
	conflicts []conflict
}

// conflict is a value that both sides changed differently.
type conflict struct {
	path []string
	three
}

// merge returns the merged value at a path; nil if it has none.
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
	case isTasks(path) && haveUniqueIDs(v.ours) && haveUniqueIDs(v.theirs):
		return m.tasks(path, v)
	}
	if value := m.decide(path, v); value != nil {
		return value
	}
	m.conflicts = append(m.conflicts, conflict{path, v})
	return v.ours
}

// mapping merges two mappings key by key. Keys that only theirs has come last.
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

// tasks merges two lists of tasks by id. Tasks that only theirs has come last.
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

// byID returns the tasks of a list by their ids; the first of several with one id.
func byID(list *yaml.Node) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, t := range items(list) {
		if id := idOf(t); id != "" && out[id] == nil {
			out[id] = t
		}
	}
	return out
}

// common returns the common part of two values; nil if there is none.
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

// same reports whether two values are equal. The order of keys, comments and style do not count.
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

// get returns the value of a mapping's key; nil if there is none.
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

// text returns a scalar's text without the white space around it, as the protocol compares ids and statuses; empty for null.
func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// isTasks reports whether a path is a plan's list of tasks.
func isTasks(path []string) bool { return len(path) == 1 && path[0] == "tasks" }

func idOf(task *yaml.Node) string { return text(get(task, "id")) }

// items returns the elements of a list; none for any other value.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// haveUniqueIDs reports whether every element of a list has an id that no other one has.
func haveUniqueIDs(list *yaml.Node) bool {
	return list.Kind == yaml.SequenceNode && len(byID(list)) == len(list.Content)
}
