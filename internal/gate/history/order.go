package history

import (
	"slices"
	"strings"
)

// InOrder puts commits in the order in which they are judged: parents before children, and a merge's first
// parent's side first. An edit in several commits is reported at the first of them, so the order must depend on
// the graph and not on a reader's listing.
func InOrder(commits []Commit) []Commit {
	byID := make(map[string]Commit, len(commits))
	isParent := map[string]bool{}
	for _, n := range commits {
		byID[n.ID] = n
		for _, p := range n.Parents {
			isParent[p] = true
		}
	}
	var todo []string // a stack; the last one comes next
	for _, n := range commits {
		if !isParent[n.ID] {
			todo = append(todo, n.ID)
		}
	}
	slices.SortFunc(todo, func(a, b string) int { return strings.Compare(b, a) })
	out := make([]Commit, 0, len(commits))
	const (
		entered = 1 // its parents are on the stack above it
		placed  = 2 // it is in out
	)
	state := make(map[string]int, len(commits))
	for len(todo) > 0 {
		n := byID[todo[len(todo)-1]]
		if state[n.ID] != 0 {
			todo = todo[:len(todo)-1]
			if state[n.ID] == entered {
				state[n.ID] = placed
				out = append(out, n)
			}
			continue
		}
		state[n.ID] = entered
		for _, p := range slices.Backward(n.Parents) {
			if _, listed := byID[p]; listed && state[p] == 0 {
				todo = append(todo, p)
			}
		}
	}
	return out
}
