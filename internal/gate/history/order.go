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

// FirstParentLine returns those commits that are on head's first-parent line, oldest first. In commits, parents have to come before children.
func FirstParentLine(commits []Commit, head string) (line []Commit) {
	for _, c := range slices.Backward(commits) {
		if c.ID == head {
			line, head = append(line, c), FirstOf(c.Parents)
		}
	}
	slices.Reverse(line)
	return line
}

// BroughtBy maps each commit to the index in line, a first-parent line, of the commit that brought it there: the commit itself, or the merge that brought
// its branch. Commits that are not in the line's history are left out. In commits, parents have to come before children.
func BroughtBy(line, commits []Commit) map[string]int {
	by := map[string]int{}
	for i, c := range line {
		by[c.ID] = i
	}
	for _, c := range slices.Backward(commits) {
		i, brought := by[c.ID]
		for _, p := range c.Parents {
			if first, known := by[p]; brought && (!known || i < first) {
				by[p] = i
			}
		}
	}
	return by
}
