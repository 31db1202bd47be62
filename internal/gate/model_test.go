package gate_test

import (
	"reflect"
	"slices"
)

// The naive model: which histories must fail, said once more, as plainly as
// possible and from the design alone. It knows no files, only lists of keys,
// and uses quadratic and worse algorithms wherever they are shorter.

// modelVerdict says whether something must be refused. It is ordered: the
// worst of several wins.
type modelVerdict int

const (
	fine modelVerdict = iota
	// unsure: several equal entries can be matched in more than one way, and
	// the ways disagree. Either answer is accepted.
	unsure
	bad
)

func (v modelVerdict) String() string { return [...]string{"fine", "unsure", "bad"}[v] }

// modelEntry is all that history asks of an entry: what it says, as one
// string, whether it is evidence of a reconciliation, and whether a waiver
// lets it be missing. Versions that waivers make equal have one key, and which
// of them it is decides where a commit with one parent changes it.
type modelEntry struct {
	key       string
	version   string
	mayBecome map[string]bool
	marker    bool
	mayGo     bool
}

// logState says what is at a log's path.
type logState int

const (
	absent logState = iota
	broken
	readable
)

// modelLog is a log in one commit.
type modelLog struct {
	state   logState
	entries []modelEntry
	// content distinguishes two broken files.
	content string
}

// modelCommit is one commit: its parents' numbers and its logs by directory.
type modelCommit struct {
	parents []int
	logs    map[string]modelLog
}

// model is a history; parents have lower numbers than their children.
type model []modelCommit

func has(entries []modelEntry, key string) bool { return count(entries, key) > 0 }

func count(entries []modelEntry, key string) int {
	n := 0
	for _, e := range entries {
		if e.key == key {
			n++
		}
	}
	return n
}

func isPrefix(p, c []modelEntry) bool {
	sameKey := func(a, b modelEntry) bool { return a.key == b.key }
	return len(p) <= len(c) && slices.EqualFunc(p, c[:len(p)], sameKey)
}

// firstPlaces finds p in c, in order, each entry as early as possible, and
// returns how much of c that takes; -1 if some entry is not there.
func firstPlaces(p, c []modelEntry) int {
	i := 0
	for _, want := range p {
		for i < len(c) && c[i].key != want.key {
			i++
		}
		if i == len(c) {
			return -1
		}
		i++
	}
	return i
}

// required leaves out of p what c may lack, and lacks.
func required(p, c []modelEntry) []modelEntry {
	return slices.DeleteFunc(slices.Clone(p), func(e modelEntry) bool { return e.mayGo && !has(c, e.key) })
}

// someCopiesGone: of several equal entries that may be missing, some are.
func someCopiesGone(p, c []modelEntry) bool {
	return slices.ContainsFunc(p, func(e modelEntry) bool { return e.mayGo && has(c, e.key) && count(c, e.key) < count(p, e.key) })
}

// judgeLedgers judges one edge.
func judgeLedgers(p, c []modelEntry) modelVerdict {
	if someCopiesGone(p, c) {
		return unsure
	}
	p = required(p, c)
	if isPrefix(p, c) {
		return fine
	}
	end := firstPlaces(p, c)
	if end < 0 {
		return bad // rewritten
	}
	verdict := bad
	for i := end; i < len(c); i++ {
		if !c[i].marker || has(p, c[i].key) {
			continue
		}
		verdict = min(verdict, unsure)
		if !slices.ContainsFunc(c[i:], func(e modelEntry) bool { return has(p, e.key) }) {
			return fine
		}
	}
	return verdict
}

// judgeWay judges which versions of entries, equal by waivers, one parent's
// child has in place of its parent's.
func judgeWay(p, c []modelEntry) modelVerdict {
	verdict := fine
	p = required(p, c)
	for _, e := range p {
		same := func(other modelEntry) bool { return other.key != e.key }
		before, after := slices.DeleteFunc(slices.Clone(p), same), slices.DeleteFunc(slices.Clone(c), same)
		for i, old := range before {
			for j, now := range after {
				switch {
				case old.version == now.version || old.mayBecome[now.version]:
				case len(before) != len(after):
					verdict = max(verdict, unsure) // which is whose new version?
				case i == j:
					return bad
				}
			}
		}
	}
	return verdict
}

// judgeNewInMerge judges where a merge puts entries that no parent has.
func judgeNewInMerge(parents [][]modelEntry, c []modelEntry) modelVerdict {
	inParent := func(e modelEntry) bool {
		return slices.ContainsFunc(parents, func(p []modelEntry) bool { return has(p, e.key) })
	}
	for i, e := range c {
		if !inParent(e) && slices.ContainsFunc(c[i:], inParent) {
			return bad
		}
	}
	if !slices.ContainsFunc(parents, func(p []modelEntry) bool { return !isPrefix(required(p, c), c) }) {
		return fine
	}
	for _, e := range c {
		most := 0
		for _, p := range parents {
			most = max(most, count(p, e.key))
		}
		if inParent(e) && count(c, e.key) > most {
			return unsure // is the further one new?
		}
	}
	return fine
}

// lastReadable lists the ledgers that a child of commit n is compared with at a
// path: n's own, else those of its nearest readable ancestors, moved away or not.
func (m model) lastReadable(n int, dir string) [][]modelEntry {
	if log := m[n].logs[dir]; log.state == readable {
		return [][]modelEntry{log.entries}
	}
	var out [][]modelEntry
	for _, p := range m[n].parents {
		out = append(out, m.lastReadable(p, dir)...)
	}
	return out
}

// holds reports whether a log holds every ledger from its beginning on or, if
// others may have written between, in order.
func holds(log []modelEntry, ledgers [][]modelEntry, between bool) bool {
	for _, ledger := range ledgers {
		ledger = required(ledger, log)
		if !isPrefix(ledger, log) && (!between || firstPlaces(ledger, log) < 0) {
			return false
		}
	}
	return true
}

// moves says which logs of commit p continue at another path in commit c: gone from
// theirs, and held by as many new logs as there are logs like them. apart
// says that a log may have been replaced by an unrelated one.
func (m model) moves(p, c int, between, apart bool) map[string]string {
	type departure struct {
		dir  string
		logs [][]modelEntry
		size int
	}
	var gone []departure
	arrived := map[string]bool{}
	for _, dir := range workspaceDirs {
		before, after := m[p].logs[dir], m[c].logs[dir]
		if before.state == absent {
			arrived[dir] = after.state == readable
			continue
		}
		logs := m.lastReadable(p, dir)
		replaced := apart && after.state == readable && !holds(after.entries, logs, true)
		if len(logs) > 0 && (after.state == absent || replaced) {
			d := departure{dir: dir, logs: logs}
			for _, l := range logs {
				d.size = max(d.size, len(l))
			}
			gone = append(gone, d)
		}
	}
	slices.SortStableFunc(gone, func(a, b departure) int { return b.size - a.size })
	out := map[string]string{}
	done := map[string]bool{}
	for _, d := range gone {
		if done[d.dir] {
			continue
		}
		var alike []string
		for _, other := range gone {
			if reflect.DeepEqual(other.logs, d.logs) {
				alike = append(alike, other.dir)
				done[other.dir] = true
			}
		}
		var to []string
		for _, dir := range workspaceDirs {
			if arrived[dir] && holds(m[c].logs[dir].entries, d.logs, between) {
				to = append(to, dir)
			}
		}
		if len(to) == len(alike) || len(to) > len(alike) && d.size == 0 {
			for i, from := range alike {
				out[from] = to[i]
				arrived[to[i]] = false
			}
		}
	}
	return out
}

// before lists what a log of commit c is compared with on the edge from p.
func (m model) before(p int, dir string, moved map[string]string, there bool) [][]modelEntry {
	var out [][]modelEntry
	for _, from := range workspaceDirs {
		if to, ok := moved[from]; ok && to == dir {
			out = append(out, m.lastReadable(p, from)...)
		}
	}
	if _, away := moved[dir]; away && there {
		return out
	}
	return append(out, m.lastReadable(p, dir)...)
}

// recorded reports whether a log had an entry when it was last readable.
func (m model) recorded(n int, dir string) bool {
	return slices.ContainsFunc(m.lastReadable(n, dir), func(entries []modelEntry) bool { return len(entries) > 0 })
}

// judgeEdge judges what the edge from p to c does to one directory's log.
func (m model) judgeEdge(p, c int, dir string, moved map[string]string) modelVerdict {
	before, after := m[p].logs[dir], m[c].logs[dir]
	verdict := fine
	switch after.state {
	case broken:
		if before.state != broken || before.content != after.content {
			verdict = bad
		}
	case absent:
		if before.state == absent {
			break
		}
		if len(m.lastReadable(p, dir)) == 0 {
			return unsure // nobody ever read it
		}
		if _, ok := moved[dir]; !ok && m.recorded(p, dir) {
			verdict = bad
		}
	case readable:
		for _, ledger := range m.before(p, dir, moved, true) {
			verdict = max(verdict, judgeLedgers(ledger, after.entries), judgeWay(ledger, after.entries))
		}
	}
	return verdict
}

// related reports whether one parent of a merge shares history with another.
func (m model) related(c, one int) bool {
	mine := m.reach(m[c].parents[one])
	for i, p := range m[c].parents {
		if i == one {
			continue
		}
		for n := range m.reach(p) {
			if mine[n] {
				return true
			}
		}
	}
	return false
}

// judgeCommit judges a commit's edges, and a merge as a whole.
func (m model) judgeCommit(c int) modelVerdict {
	verdict := fine
	merge := len(m[c].parents) > 1
	var moved []map[string]string
	for i, p := range m[c].parents {
		moved = append(moved, m.moves(p, c, merge, merge && !m.related(c, i)))
	}
	for _, dir := range workspaceDirs {
		var parents [][]modelEntry
		for i, p := range m[c].parents {
			verdict = max(verdict, m.judgeEdge(p, c, dir, moved[i]))
			parents = append(parents, m.before(p, dir, moved[i], m[c].logs[dir].state != absent)...)
		}
		if len(m[c].parents) == 0 && m[c].logs[dir].state == broken {
			verdict = bad
		}
		if merge && m[c].logs[dir].state == readable {
			verdict = max(verdict, judgeNewInMerge(parents, m[c].logs[dir].entries))
		}
	}
	return verdict
}

// reach marks the commits that n has.
func (m model) reach(n int) map[int]bool {
	seen := map[int]bool{n: true}
	for i := n; i >= 0; i-- {
		if seen[i] {
			for _, p := range m[i].parents {
				seen[p] = true
			}
		}
	}
	return seen
}

// inOrder lists n's history, parents first, the first parent's side before the
// others'.
func (m model) inOrder(n int, seen map[int]bool) []int {
	if seen[n] {
		return nil
	}
	seen[n] = true
	var out []int
	for _, p := range m[n].parents {
		out = append(out, m.inOrder(p, seen)...)
	}
	return append(out, n)
}

// judgeAudit judges every commit of a history.
func (m model) judgeAudit(head int) modelVerdict {
	verdict := fine
	for c := range m.reach(head) {
		verdict = max(verdict, m.judgeCommit(c))
	}
	return verdict
}

// judgeRange judges what head has and base lacks, then the two tips unless one
// descends from the other.
func (m model) judgeRange(base, head int) modelVerdict {
	verdict := fine
	known := m.reach(base)
	for c := range m.reach(head) {
		if !known[c] {
			verdict = max(verdict, m.judgeCommit(c))
		}
	}
	if m.reach(head)[base] && !m.tookAnother(base, head) {
		return verdict // every step from one to the other has been judged
	}
	for _, pair := range m.tipPairs(base, head) {
		target, ours := m[base].logs[pair[0]], m[head].logs[pair[1]]
		verdict = max(verdict, min(judgeLedgers(target.entries, ours.entries), judgeLedgers(ours.entries, target.entries)))
	}
	return verdict
}

// goesOn reports whether what a tip has and an earlier one lacks follows that one
// alone.
func (m model) goesOn(old, tip int) bool {
	known := m.reach(old)
	for c := range m.reach(tip) {
		if !known[c] && slices.ContainsFunc(m[c].parents, func(p int) bool { return known[p] && p != old }) {
			return false
		}
	}
	return m.reach(tip)[old]
}

// tookAnother reports whether a merge between two commits has another log at a
// log's path, since its parents are unrelated.
func (m model) tookAnother(base, head int) bool {
	known := m.reach(base)
	for c := range m.reach(head) {
		for i, p := range m[c].parents {
			if known[c] || len(m[c].parents) < 2 || m.related(c, i) {
				continue
			}
			for from := range m.moves(p, c, true, true) {
				if m[c].logs[from].state != absent {
					return true
				}
			}
		}
	}
	return false
}

// tipPairs lists the directories of logs that two tips both have, the one's and
// the other's: the same, or where a log moved since the merge base.
func (m model) tipPairs(target, head int) [][2]string {
	var out [][2]string
	add := func(t, h string) {
		if m[target].logs[t].state == readable && m[head].logs[h].state == readable && !slices.Contains(out, [2]string{t, h}) {
			out = append(out, [2]string{t, h})
		}
	}
	for _, dir := range workspaceDirs {
		add(dir, dir)
	}
	ours, theirs := m.reach(target), m.reach(head)
	for base := range m {
		best := ours[base] && theirs[base]
		for n := base + 1; n < len(m); n++ {
			best = best && (!ours[n] || !theirs[n] || !m.reach(n)[base])
		}
		if !best {
			continue
		}
		there, here := m.moves(base, target, true, false), m.moves(base, head, true, false)
		for _, dir := range workspaceDirs {
			t, h := dir, dir
			if to, moved := there[dir]; moved {
				t = to
			}
			if to, moved := here[dir]; moved {
				h = to
			}
			add(t, h)
		}
	}
	return out
}

// judgePush judges what a ref's new tip has and its old tip lacks, then the
// old tip against the new one: every old entry is there, in order.
func (m model) judgePush(old, tip int) modelVerdict {
	verdict := fine
	known := m.reach(old)
	for c := range m.reach(tip) {
		if !known[c] {
			verdict = max(verdict, m.judgeCommit(c))
		}
	}
	if m.goesOn(old, tip) && !m.tookAnother(old, tip) {
		return verdict // every step from one to the other has been judged
	}
	moved := m.moves(old, tip, true, false)
	for _, dir := range workspaceDirs {
		at := dir
		if to, ok := moved[dir]; ok {
			at = to
		}
		if m[old].logs[dir].state == absent && m[tip].logs[at].state == absent {
			continue
		}
		if m[tip].logs[at].state != readable {
			verdict = max(verdict, m.judgeEdge(old, tip, dir, moved))
			continue
		}
		for _, ledger := range m.lastReadable(old, dir) {
			now := m[tip].logs[at].entries
			verdict = max(verdict, judgeWay(ledger, now))
			if someCopiesGone(ledger, now) {
				verdict = max(verdict, unsure)
			} else if firstPlaces(required(ledger, now), now) < 0 {
				verdict = bad
			}
		}
	}
	return verdict
}
