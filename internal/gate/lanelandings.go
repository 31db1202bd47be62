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
// was judged in its own lane. So each merge on the way from base to head by first
// parents is one, with what it merged, and so are the commits from one merge to
// the next. Where head does not follow base that way, all is one.
func landings(commits []Commit, base, head string) []landing {
	byID := map[string]Commit{}
	for _, c := range commits {
		byID[c.ID] = c
	}
	var line []Commit // from head towards base
	at := head
	for at != base {
		c, known := byID[at]
		if !known || len(c.Parents) == 0 {
			return []landing{{base: base, head: head, commits: commits}}
		}
		line, at = append(line, c), c.Parents[0]
	}
	var out []landing
	for _, c := range slices.Backward(line) {
		last := len(out) - 1
		if len(c.Parents) == 1 && last >= 0 && len(byID[out[last].head].Parents) == 1 {
			out[last].head = c.ID
			out[last].commits = append(out[last].commits, c)
			continue
		}
		out = append(out, landing{base: c.Parents[0], head: c.ID, commits: mergedBy(commits, c)})
	}
	return out
}

// mergedBy are a commit and those that it follows and its first parent does not.
func mergedBy(commits []Commit, c Commit) []Commit {
	there := withAncestors(commits, map[string]bool{c.Parents[0]: true})
	own := withAncestors(commits, map[string]bool{c.ID: true})
	return slices.DeleteFunc(slices.Clone(commits), func(other Commit) bool { return there[other.ID] || !own[other.ID] })
}
