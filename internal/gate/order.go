package gate

import (
	"slices"
	"strings"
)

// inOrder puts nodes in the order in which they are judged: parents before
// children, and of a merge's sides the first parent's first. An edit that
// several commits make is told at the first of them, so the order is a matter
// of the graph alone and not of how a reader happens to list it.
func inOrder(nodes []node) []node {
	byID := make(map[string]node, len(nodes))
	isParent := map[string]bool{}
	for _, n := range nodes {
		byID[n.id] = n
		for _, p := range n.parents {
			isParent[p] = true
		}
	}
	var todo []string // a stack; on top is what comes next
	for _, n := range nodes {
		if !isParent[n.id] {
			todo = append(todo, n.id)
		}
	}
	slices.SortFunc(todo, func(a, b string) int { return strings.Compare(b, a) })
	out := make([]node, 0, len(nodes))
	const (
		entered = 1 // its parents are on the stack above it
		placed  = 2
	)
	state := make(map[string]int, len(nodes))
	for len(todo) > 0 {
		n := byID[todo[len(todo)-1]]
		if state[n.id] != 0 {
			todo = todo[:len(todo)-1]
			if state[n.id] == entered {
				state[n.id] = placed
				out = append(out, n)
			}
			continue
		}
		state[n.id] = entered
		for _, p := range slices.Backward(n.parents) {
			if _, listed := byID[p]; listed && state[p] == 0 {
				todo = append(todo, p)
			}
		}
	}
	return out
}
