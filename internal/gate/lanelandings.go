package gate

import "slices"

// landing is one change of those that a push brings to a branch: what head has and
// base, which the branch had before it, lacks.
type landing struct {
	base, head string
	commits    []Commit
}

// landings takes what a push brings to the default branch apart. A merge queue
// pushes several finished changes at once, each with a merge of its own, and each
// was judged in its own lane: where the way from base to head by first parents is
// merges and nothing else, each is one, with what it merged. Any other way is that
// of a branch which went on by itself and merged others, and is one change.
func landings(commits []Commit, base, head string) []landing {
	byID := map[string]Commit{}
	for _, c := range commits {
		byID[c.ID] = c
	}
	var out []landing
	for at := head; at != base; {
		c, known := byID[at]
		if !known || len(c.Parents) < 2 {
			return []landing{{base: base, head: head, commits: commits}}
		}
		at = c.Parents[0]
		out = append(out, landing{base: at, head: c.ID, commits: mergedBy(commits, c)})
	}
	slices.Reverse(out)
	return out
}

// mergedBy are a commit and those that it follows and its first parent does not.
func mergedBy(commits []Commit, c Commit) []Commit {
	there := withAncestors(commits, map[string]bool{c.Parents[0]: true})
	own := withAncestors(commits, map[string]bool{c.ID: true})
	return slices.DeleteFunc(slices.Clone(commits), func(other Commit) bool { return there[other.ID] || !own[other.ID] })
}
