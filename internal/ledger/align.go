package ledger

import (
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// alignment pairs equal entries of a parent and a child.
type alignment struct {
	// kept is the longest series of pairs (parent index, child index) in which both indexes rise.
	kept [][2]int
	// moved are the other pairs: equal entries in another order.
	moved [][2]int
	// lost are the indexes of the parent's entries, added those of the child's, that are in no pair.
	lost, added []int
}

// align pairs equal digests, the k-th with the k-th, and divides the pairs into kept and moved ones.
func align(p, c []small.Digest) alignment {
	var a alignment
	indexes := make(map[small.Digest][]int, len(c))
	for i, d := range c {
		indexes[d] = append(indexes[d], i)
	}
	taken := make([]bool, len(c))
	var pairs [][2]int
	for i, d := range p {
		rest := indexes[d]
		if len(rest) == 0 {
			a.lost = append(a.lost, i)
			continue
		}
		pairs = append(pairs, [2]int{i, rest[0]})
		taken[rest[0]] = true
		indexes[d] = rest[1:]
	}
	for i := range c {
		if !taken[i] {
			a.added = append(a.added, i)
		}
	}
	inOrder := longestRising(pairs)
	for i, pair := range pairs {
		if inOrder[i] {
			a.kept = append(a.kept, pair)
		} else {
			a.moved = append(a.moved, pair)
		}
	}
	return a
}

// longestRising marks a longest subsequence of pairs whose child indexes rise (patience sorting, O(n log n)).
func longestRising(pairs [][2]int) []bool {
	tails := []int{} // tails[k] is the pair that ends the best run of length k+1
	before := make([]int, len(pairs))
	for i, pair := range pairs {
		k, _ := slices.BinarySearchFunc(tails, pair[1], func(t, index int) int { return pairs[t][1] - index })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	marked := make([]bool, len(pairs))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			marked[i] = true
		}
	}
	return marked
}
