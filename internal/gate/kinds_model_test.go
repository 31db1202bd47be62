package gate_test

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// The naive model of configured logs: which histories must fail, from the contract alone, over plain strings. It shares nothing
// with the gate, and little with the model of progress logs: only the words for verdicts and states.

// kindModel is a history of trees, and the kind of the logs in it.
type kindModel struct {
	kind    logKind
	parents [][]int
	logs    []map[string]naiveLog
	// since is the number of the since commit; -1 for none.
	since int
	// rewrite is the approved one; nil for none.
	rewrite *naiveRewrite
	// whole has the real parents if parents has only those of one step; else nil. joins is true if that is the step of a merge that has landed.
	whole *kindModel
	joins bool
	// moved are moves that were found before: they take long.
	moved map[[3]int]map[string]string
}

// naiveRewrite is the approval of a rewrite of log/a as a whole, from some entries to others.
type naiveRewrite struct {
	at       string
	from, to []string
	// rawFrom and rawTo have all of each entry.
	rawFrom, rawTo []string
}

func begins(l, front []string) bool {
	return len(l) >= len(front) && slices.Equal(l[:len(front)], front)
}

// minus leaves out of l what others account for.
func minus(l, others []string) []string {
	others = slices.Clone(others)
	var out []string
	for _, e := range l {
		if i := slices.Index(others, e); i >= 0 {
			others = slices.Delete(others, i, i+1)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// stood reports whether the log began with what the rewrite started from in one of some commits or their ancestors.
func (m *kindModel) stood(commits ...int) bool { return m.had(m.rewrite.rawFrom, commits...) }

// had reports whether the log began with some entries, or was these entries in any order, in one of some commits or their ancestors.
func (m *kindModel) had(raw []string, commits ...int) bool {
	for _, c := range commits {
		for n := range m.reach(c) {
			if l := m.logs[n][m.rewrite.at]; l.state == readable && (!m.kind.unordered() && begins(l.raw, raw) || m.kind.unordered() && len(l.raw) == len(raw) && len(minus(l.raw, raw)) == 0) {
				return true
			}
		}
	}
	return false
}

// front reports whether a log begins with some entries; without an order, whether it has them.
func (m *kindModel) front(l, entries []string) bool {
	if m.kind.unordered() {
		return len(minus(entries, l)) == 0
	}
	return begins(l, entries)
}

// besides is a log without the entries that it begins with.
func (m *kindModel) besides(l, front []string) []string {
	if m.kind.unordered() {
		return minus(l, front)
	}
	return l[len(front):]
}

// done reports whether a log has the rewrite behind it, and nothing of what that removed.
func (m *kindModel) done(l []string) bool {
	r := m.rewrite
	removed := minus(r.from, r.to)
	return (m.kind.unordered() || m.front(l, r.to)) && !m.front(l, r.from) && !slices.ContainsFunc(minus(l, r.to), func(e string) bool { return slices.Contains(removed, e) })
}

// rewritten is a log of p as the approval lets it become in c.
func (m *kindModel) rewritten(p, c int, at string, l, now []string) []string {
	r := m.rewrite
	switch {
	case r == nil || at != r.at || begins(now, l) || len(m.parents[c]) > 1 && slices.Contains(m.parents[c], p) && m.inOrderIn(l, now) || !m.front(now, r.to) || m.front(now, r.from):
	case !m.done(now) && !slices.Contains(m.parents[c], p): // only a commit's own edges are judged by what comes back
	case m.kind.unordered() && len(minus(r.rawTo, m.logs[c][at].raw)) > 0 && !m.had(r.rawTo, append([]int{p, c}, m.parents[c]...)...): // the heads differ
	case !m.kind.unordered() && !m.kind.plain() && !begins(m.logs[c][at].raw, r.rawTo) && !m.had(r.rawTo, append([]int{p, c}, m.parents[c]...)...): // as above
	case m.front(l, r.from):
		return slices.Concat(r.to, m.undecided(m.besides(l, r.from)))
	case slices.ContainsFunc(minus(r.to, r.from), func(e string) bool { return slices.Contains(l, e) }): // later than the rewrite
	case slices.Equal(m.parents[c], []int{p}) || m.front(l, r.to) && m.done(l) || !m.stood(append([]int{p, c}, m.parents[c]...)...):
	default:
		return slices.Concat(r.to, m.undecided(minus(l, r.from)))
	}
	return l
}

// undecided leaves out of l what the rewrite removed, however often it is there, and counts as one what the rewrite added.
func (m *kindModel) undecided(l []string) []string {
	removed := minus(m.rewrite.from, m.rewrite.to)
	l = slices.DeleteFunc(slices.Clone(l), func(e string) bool { return slices.Contains(removed, e) })
	return minus(l, minus(m.rewrite.to, m.rewrite.from))
}

// returned judges whether a commit brings back what the rewrite removed.
func (m *kindModel) returned(c int) modelVerdict {
	r := m.rewrite
	if r == nil || m.logs[c][r.at].state != readable {
		return fine
	}
	if all := append([]int{c}, m.parents[c]...); m.kind.unordered() && m.stood(m.parents[c]...) && !m.had(r.rawTo, all...) {
		return unsure // the history does not show what the rewrite removed
	}
	now, behind := m.logs[c][r.at].entries, false
	most := map[string]int{}
	for _, p := range m.parents[c] {
		for _, l := range m.before(p, r.at) {
			became := m.rewritten(p, c, r.at, l, now)
			behind = behind || !slices.Equal(became, l) || m.done(l) && m.stood(p)
		}
	}
	for _, p := range m.parents[c] {
		for _, l := range m.before(p, r.at) {
			if l = m.rewritten(p, c, r.at, l, now); !m.done(l) {
				l = minus(l, r.from)
			}
			here := map[string]int{}
			for _, e := range l {
				here[e]++
				most[e] = max(most[e], here[e])
			}
		}
	}
	count := map[string]int{}
	for _, e := range now {
		count[e]++
		if behind && count[e] > most[e] && count[e] <= len(r.from)-len(minus(r.from, slices.Repeat([]string{e}, len(r.from)))) {
			return bad
		}
	}
	return fine
}

// naiveLog is what a commit has of one log: of a file, or of a folder whose files must not change.
type naiveLog struct {
	state   logState
	entries []string
	// raw has all of each entry.
	raw []string
	// content distinguishes broken ones; names are a folder's files.
	content string
	names   []string
}

// readKind reads a tree as logs, by path; of a folder, by the folder's.
func readKind(kind logKind, tree fileTree) map[string]naiveLog {
	out := map[string]naiveLog{}
	for _, at := range slices.Sorted(maps.Keys(tree)) {
		f := tree[at]
		if !strings.HasPrefix(at, kind.root) || !strings.HasSuffix(at, kind.suffix) || strings.HasPrefix(path.Base(at), "draft") {
			continue
		}
		mode := f.mode
		if mode == "" {
			mode = "100644"
		}
		if kind.files {
			l := out[path.Dir(at)]
			l.names = append(l.names, path.Base(at))
			l.state = readable
			switch mode {
			case "160000":
				l.content += "\x00" + path.Base(at) + f.data
			case "120000":
				l.entries = append(l.entries, path.Base(at)+"\x00"+mode+"\x00"+f.data)
			default:
				for _, data := range kind.finished([]string{strings.ReplaceAll(f.data, "\r\n", "\n")}) {
					l.entries = append(l.entries, path.Base(at)+"\x00"+mode+"\x00"+data)
				}
			}
			out[path.Dir(at)] = l
			continue
		}
		entries, ok := kind.read(f.data)
		if mode == "120000" || mode == "160000" || strings.HasPrefix(f.data, "version https://git-lfs") || !ok {
			out[at] = naiveLog{state: broken, content: mode + f.data}
			continue
		}
		out[at] = naiveLog{state: readable, entries: kind.finished(entries), raw: entries}
	}
	return out
}

func (m *kindModel) reach(n int) map[int]bool {
	seen := map[int]bool{n: true}
	for i := n; i >= 0; i-- {
		if seen[i] {
			for _, p := range m.parents[i] {
				seen[p] = true
			}
		}
	}
	return seen
}

// inOrderIn reports whether c has p's entries in their order; where they have none, whether it has them at all.
func (m *kindModel) inOrderIn(p, c []string) bool {
	if m.kind.unordered() {
		return len(minus(p, c)) == 0
	}
	at := 0
	for _, e := range p {
		for at < len(c) && c[at] != e {
			at++
		}
		if at == len(c) {
			return false
		}
		at++
	}
	return true
}

// keeps reports whether an edge from p to c is allowed.
func (m *kindModel) keeps(p, c []string, mixed bool) bool {
	if m.kind.unordered() || mixed {
		return m.inOrderIn(p, c)
	}
	return begins(c, p)
}

// before are the logs that a child of commit n has to continue at a path. A folder's files count as long as they are there.
func (m *kindModel) before(n int, at string) [][]string {
	if l := m.logs[n][at]; l.state == readable {
		return [][]string{l.entries}
	}
	var out [][]string
	if !m.kind.files {
		for _, p := range m.parents[n] {
			if !m.left(p, n, at) {
				out = append(out, m.before(p, at)...)
			}
		}
	}
	return out
}

// left reports whether a log of p is gone in n because it went whole to another path: the old path may begin anew.
func (m *kindModel) left(p, n int, at string) bool {
	if _, was := m.logs[p][at]; !was || m.logs[n][at].state != absent {
		return false
	}
	merge := len(m.parents[n]) > 1
	moved := m.moves(p, n, merge)
	_, is := moved[at]
	return is || m.rotated(p, n, at, moved)
}

// arrived are the entries that are new at a path in c: for a folder, in files that p does not have there; for a file, if p has none.
func (m *kindModel) arrived(p, c int, at string) []string {
	was, now := m.logs[p][at], m.logs[c][at]
	if !m.kind.files {
		if was.state != absent || now.state != readable {
			return nil
		}
		return append([]string{}, now.entries...)
	}
	var out []string
	for _, e := range now.entries {
		if name, _, _ := strings.Cut(e, "\x00"); !slices.Contains(was.names, name) {
			out = append(out, e)
		}
	}
	return out
}

// moves says which logs of p are at another path in c.
func (m *kindModel) moves(p, c int, mixed bool) map[string]string {
	key := [3]int{p, c, 0}
	if mixed {
		key[2] = 1
	}
	if known, is := m.moved[key]; is {
		return known
	}
	out := map[string]string{}
	m.moved[key] = out
	taken := map[string]bool{}
	var gone []string
	for at := range m.logs[p] {
		if m.logs[c][at].state == absent && len(m.before(p, at)) > 0 {
			gone = append(gone, at)
		}
	}
	longest := func(at string) (n int) {
		for _, l := range m.before(p, at) {
			n = max(n, len(l))
		}
		return n
	}
	slices.SortFunc(gone, func(a, b string) int {
		if c := longest(b) - longest(a); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	done := map[string]bool{}
	for _, from := range gone {
		if done[from] {
			continue
		}
		var alike, to []string
		for _, other := range gone {
			if slices.EqualFunc(m.before(p, from), m.before(p, other), slices.Equal) {
				alike, done[other] = append(alike, other), true
			}
		}
		for _, at := range slices.Sorted(maps.Keys(m.logs[c])) {
			arrived := m.arrived(p, c, at)
			if arrived != nil && (!taken[at] || m.kind.files) && !slices.ContainsFunc(m.before(p, from), func(l []string) bool { return !m.keeps(l, arrived, mixed) }) {
				to = append(to, at)
			}
		}
		if len(to) == len(alike) || len(to) > len(alike) && longest(from) == 0 {
			for i, f := range alike {
				out[f], taken[to[i]] = to[i], true
			}
		}
	}
	return out
}

// without leaves out what the since commit accepts on the edge from p, whose log was before, to c.
func (m *kindModel) without(p, c int, at string, before []string, lists ...[]string) [][]string {
	accepted := map[string]bool{}
	if m.since >= 0 && !m.reach(p)[m.since] {
		for n := range m.reach(m.since) {
			for _, e := range m.logs[n][at].entries {
				accepted[e] = true
			}
		}
		taken := m.taken(p, c)
		for e := range accepted {
			kept := slices.Contains(before, e) && !slices.ContainsFunc(taken, func(n int) bool { return !slices.Contains(m.logs[n][at].entries, e) })
			if len(taken) == 0 {
				kept = slices.Contains(before, e) && slices.Contains(m.logs[m.since][at].entries, e) || !m.squashes(c, at, e, before)
			}
			if kept {
				delete(accepted, e)
			}
		}
	}
	var out [][]string
	for _, list := range lists {
		out = append(out, slices.DeleteFunc(slices.Clone(list), func(e string) bool { return accepted[e] }))
	}
	return out
}

// taken are the newest of since's ancestors, and since itself, that c contains and p does not.
func (m *kindModel) taken(p, c int) []int {
	g := m
	if m.whole != nil {
		g = m.whole
	}
	return slices.DeleteFunc(g.bases(c, m.since), func(n int) bool { return g.reach(p)[n] })
}

// squashes reports whether c has all that the since commit had and the log before lacked some of it, although c does not contain that commit.
// Each file of a folder is for itself: that of e.
func (m *kindModel) squashes(c int, at, e string, before []string) bool {
	name, _, _ := strings.Cut(e, "\x00")
	submodule := func(l string) bool { return strings.HasPrefix(l, name) && len(l) == len(name)+40 }
	if l := m.logs[m.since][at]; l.state == broken || slices.ContainsFunc(strings.Split(l.content, "\x00"), submodule) || !m.kind.files && m.logs[c][at].state != readable && l.state == readable {
		return false
	}
	lacks := func(l []string) bool {
		return slices.ContainsFunc(m.logs[m.since][at].entries, func(had string) bool {
			return (!m.kind.files || strings.HasPrefix(had, name+"\x00")) && !slices.Contains(l, had)
		})
	}
	return lacks(before) && !lacks(m.logs[c][at].entries)
}

// naiveArchive is where a log went. replaces is true if what was there is not there any more.
type naiveArchive struct {
	to       string
	replaces bool
}

// archives are the logs of c that gain, in one piece, what a log of p had and c lacks there; other new entries may stand around it. Where two sides
// meet, it is enough that something of it came.
func (m *kindModel) archives(p, c int, at string, moved map[string]string, meet bool) (out []naiveArchive) {
	was, now := m.logs[p][at], m.logs[c][at]
	if _, is := moved[at]; is || m.kind.files || was.state != readable || len(was.entries) == 0 || len(minus(was.entries, now.entries)) == 0 {
		return nil
	}
	for i, e := range now.entries {
		if i > 0 && slices.Contains(was.entries, e) && !meet {
			return nil // not begun anew
		}
	}
	for to, l := range m.logs[c] {
		had := m.logs[p][to]
		if to == at || l.state != readable || had.state == broken || slices.Contains(slices.Collect(maps.Values(moved)), to) {
			continue
		}
		gained := minus(l.entries, had.entries)
		switch {
		case m.hasWhole(gained, was.entries) && m.keeps(had.entries, l.entries, m.kind.unordered()):
			out = append(out, naiveArchive{to: to})
		case m.hasWhole(l.entries, was.entries) && len(minus(had.entries, l.entries)) > 0:
			out = append(out, naiveArchive{to: to, replaces: true})
		case meet && slices.Contains(gained, was.entries[0]), meet && m.kind.unordered() && len(minus(was.entries, gained)) < len(was.entries):
			out = append(out, naiveArchive{to: to})
		}
	}
	return out
}

// hasWhole reports whether a list has all of a log, in one piece if entries have an order.
func (m *kindModel) hasWhole(list, log []string) bool {
	if m.kind.unordered() {
		return len(minus(log, list)) == 0
	}
	for i := range list {
		if begins(list[i:], log) {
			return true
		}
	}
	return false
}

// rotations say to which archives logs of p went. Each has one, which takes no other log; two logs do not take each other's place; and what an
// archive had itself has gone to one.
func (m *kindModel) rotations(p, c int, moved map[string]string) map[string]naiveArchive {
	out, taken := map[string]naiveArchive{}, map[string]int{}
	for at := range m.logs[p] {
		found := m.archives(p, c, at, moved, false)
		for _, a := range found {
			taken[a.to]++
		}
		if len(found) == 1 {
			out[at] = found[0]
		}
	}
	maps.DeleteFunc(out, func(_ string, a naiveArchive) bool { return taken[a.to] > 1 })
	all := maps.Clone(out)
	maps.DeleteFunc(out, func(at string, a naiveArchive) bool {
		for range all {
			if a.to == at {
				return true
			}
			a = all[a.to]
		}
		return false
	})
	for range all {
		maps.DeleteFunc(out, func(_ string, a naiveArchive) bool { return a.replaces && out[a.to].to == "" })
	}
	return out
}

// rotated reports whether a log of p went to an archive.
func (m *kindModel) rotated(p, c int, at string, moved map[string]string) bool {
	return m.rotations(p, c, moved)[at].to != ""
}

// relocates reports whether logs moved or were rotated in one of the commits that head has and base lacks. In a merge that may be unsure.
func (m *kindModel) relocates(base, head int) (did, may bool) {
	known := m.reach(base)
	for c := range m.reach(head) {
		for _, p := range m.parents[c] {
			if known[c] {
				continue
			}
			moved := m.moves(p, c, m.merges(c))
			did = did || len(moved) > 0 || !m.merges(c) && len(m.rotations(p, c, moved)) > 0
			for at := range m.logs[p] {
				may = may || m.merges(c) && len(m.archives(p, c, at, moved, true)) > 0
			}
		}
	}
	return did, may
}

// asOne judges a range as one commit if it moves or rotates logs.
func (m *kindModel) asOne(base, head int) modelVerdict {
	verdict := fine
	did, may := m.relocates(base, head)
	if !m.kind.merged() && (did || may) {
		for _, b := range m.bases(base, head) {
			verdict = max(verdict, m.asCommit(b, head, false).entriesOf(head))
		}
	}
	if !did {
		verdict = min(verdict, unsure)
	}
	return verdict
}

// edge judges one log on one edge. moved are the moves on it; mixed allows others' entries between.
func (m *kindModel) edge(p, c int, at string, moved map[string]string, mixed bool) modelVerdict {
	verdict := m.withoutRotation(p, c, at, moved, mixed)
	if single := slices.Equal(m.parents[c], []int{p}) && !m.joins; verdict == bad && m.logs[c][at].state != broken {
		switch {
		case !single && len(m.archives(p, c, at, moved, true)) > 0:
			return unsure
		case single && m.rotated(p, c, at, moved):
			return fine
		}
	}
	return verdict
}

// withoutRotation judges a log on an edge, on which it does not go to an archive.
func (m *kindModel) withoutRotation(p, c int, at string, moved map[string]string, mixed bool) modelVerdict {
	was, now := m.logs[p][at], m.logs[c][at]
	if m.kind.files && len(minus(strings.Split(now.content, "\x00"), strings.Split(was.content, "\x00"))) > 0 {
		return bad // a submodule, or another
	}
	switch now.state {
	case broken:
		if was.state == broken && was.content == now.content {
			return fine
		}
		return bad
	case absent:
		if _, gone := moved[at]; gone || was.state == absent {
			return fine
		}
		verdict := fine
		if len(m.before(p, at)) == 0 && !m.kind.files {
			return unsure
		}
		for _, l := range m.before(p, at) {
			if len(m.without(p, c, at, l, l)[0]) > 0 {
				verdict = bad
			}
		}
		return verdict
	}
	before := m.before(p, at)
	for from, to := range moved {
		if to == at && !m.kind.files {
			before = append(before, m.before(p, from)...)
		}
	}
	for _, l := range before {
		l = m.rewritten(p, c, at, l, now.entries)
		if both := m.without(p, c, at, l, l, now.entries); !m.keeps(both[0], both[1], mixed) {
			return bad
		}
	}
	return fine
}

// commit judges a commit on all of its edges.
func (m *kindModel) commit(c int) modelVerdict { return max(m.entriesOf(c), m.order(c)) }

// entriesOf judges what became of entries on all edges of a commit.
func (m *kindModel) entriesOf(c int) modelVerdict {
	verdict, merge := m.returned(c), m.merges(c)
	verdict = max(verdict, m.doubled(c))
	all := map[string]bool{}
	for at := range m.logs[c] {
		all[at] = true
	}
	held, raw := map[string][]string{}, map[string][]string{}
	extended := map[string]bool{}
	var movedOn []map[string]string
	for _, p := range m.parents[c] {
		for at := range m.logs[p] {
			all[at] = true
		}
		movedOn = append(movedOn, m.moves(p, c, merge))
	}
	for at := range all {
		if len(m.parents[c]) == 0 && (m.logs[c][at].state == broken || m.logs[c][at].content != "") {
			verdict = bad
		}
		everywhere := true
		for i, p := range m.parents[c] {
			verdict = max(verdict, m.edge(p, c, at, movedOn[i], merge))
			before := m.before(p, at)
			for from, to := range movedOn[i] {
				if to == at {
					before = append(before, m.before(p, from)...)
				}
			}
			for _, l := range before {
				l = m.rewritten(p, c, at, l, m.logs[c][at].entries)
				held[at], raw[at] = append(held[at], m.without(p, c, at, l, l)[0]...), append(raw[at], l...)
				everywhere = everywhere && m.keeps(l, m.logs[c][at].entries, false)
			}
			for _, l := range append(before, nil) {
				if accepted := m.without(p, c, at, l, m.logs[c][at].entries)[0]; len(accepted) < len(m.logs[c][at].entries) {
					extended[at] = true
				}
			}
		}
		extended[at] = extended[at] || everywhere
	}
	if merge && !m.kind.unordered() {
		for at, l := range m.logs[c] {
			placed := newInMerge(l.entries, held[at], extended[at])
			if placed != newInMerge(l.entries, raw[at], extended[at]) {
				placed = unsure // new before what is accepted
			}
			verdict = max(verdict, placed)
		}
	}
	return verdict
}

// doubled judges whether a commit adds a key that is there, where entries have keys.
func (m *kindModel) doubled(c int) modelVerdict {
	verdict := fine
	if len(m.kind.Identity.Only) == 0 {
		return verdict
	}
	for at, l := range m.logs[c] {
		most, found := map[string]int{}, bad
		if m.since >= 0 && !m.reach(c)[m.since] { // what the since commit had may be taken over
			for _, e := range m.logs[m.since][at].entries {
				most[e]++
			}
		}
		for _, p := range m.parents[c] {
			merge := m.merges(c)
			moved := m.moves(p, c, merge)
			before := m.before(p, at)
			for from, was := range m.logs[p] {
				switch {
				case moved[from] == at:
					before = append(before, m.before(p, from)...)
				case slices.ContainsFunc(m.archives(p, c, from, moved, merge), func(a naiveArchive) bool { return a.to == at }):
					before = append(before, slices.Concat(m.logs[p][at].entries, was.entries))
					if merge {
						found = unsure // what came with the other log may be a part of it
					}
				}
			}
			for _, b := range before {
				b = m.rewritten(p, c, at, b, l.entries)
				here := map[string]int{}
				for _, e := range b {
					here[e]++
					most[e] = max(most[e], here[e])
				}
			}
		}
		count := map[string]int{}
		for _, e := range l.entries {
			if count[e]++; count[e] > max(most[e], 1) {
				verdict = max(verdict, found)
			}
		}
	}
	return verdict
}

// newInMerge judges where a merge puts entries that no parent has.
func newInMerge(entries, held []string, extended bool) modelVerdict {
	last := -1
	for i, e := range entries {
		if slices.Contains(held, e) {
			last = i
		}
	}
	for i, e := range entries {
		if i < last && !slices.Contains(held, e) {
			if extended {
				return unsure
			}
			return bad
		}
	}
	return fine
}

// order judges the names of a commit's new files: in a merge they have to be in order against one parent. Files that came with their folder keep
// their order, if the parent has no other files where they came.
func (m *kindModel) order(c int) modelVerdict {
	if !m.kind.sorted() || len(m.parents[c]) == 0 {
		return fine
	}
	for folder, now := range m.logs[c] {
		wrong := true
		for _, p := range m.parents[c] {
			was, came := m.logs[p][folder].names, []string(nil)
			for from, to := range m.moves(p, c, m.merges(c)) {
				if to == folder {
					came = append(came, m.logs[p][from].names...)
				}
			}
			added := slices.DeleteFunc(slices.Clone(now.names), func(name string) bool {
				return slices.Contains(was, name) || len(was) == 0 && slices.Contains(came, name)
			})
			wrong = wrong && m.kind.outOfOrder(added, filter(was, func(name string) bool { return slices.Contains(now.names, name) }))
		}
		if wrong {
			return bad
		}
	}
	return fine
}

var digits = regexp.MustCompile(`[0-9]+`)

// outOfOrder reports whether some names that are new together do not come after older ones.
func (k logKind) outOfOrder(added, older []string) bool {
	for _, name := range added {
		stem, _, _ := strings.Cut(name, ".")
		if slices.ContainsFunc(older, func(old string) bool { return !k.sortsAfter(name, old) }) {
			return true
		}
		if k.Order == policy.ByNumber && slices.ContainsFunc(added, func(other string) bool {
			return firstNumber(name) == firstNumber(other) && !strings.HasPrefix(other+".", stem+".")
		}) {
			return true
		}
	}
	return false
}

// firstNumber is the first number in a name; -1 for none.
func firstNumber(name string) int {
	n, err := strconv.Atoi(digits.FindString(name))
	if err != nil {
		return -1
	}
	return n
}

// sortsAfter compares names: by their first numbers, or with all numbers written in full width.
func (k logKind) sortsAfter(name, other string) bool {
	if k.Order == policy.ByNumber {
		return firstNumber(name) > firstNumber(other)
	}
	wide := func(s string) string {
		return digits.ReplaceAllStringFunc(s, func(n string) string { return strings.Repeat("0", 30-len(n)) + n })
	}
	number := func(s string) string { return wide(regexp.MustCompile(`^[A-Za-z]?[0-9]+_`).FindString(s)) }
	a, b := number(name), number(other)
	if a != "" && a == b {
		return false
	}
	return wide(name) > wide(other) || wide(name) == wide(other) && name > other
}

func (m *kindModel) audit(head int) modelVerdict {
	verdict := fine
	past := map[int]bool{}
	if m.since >= 0 {
		past = m.reach(m.since)
	}
	for c := range m.reach(head) {
		if !past[c] {
			verdict = max(verdict, m.commit(c))
		}
	}
	return verdict
}

// inStep judges what a commit of a branch did, as far as the branch is not judged as one step.
func (m *kindModel) inStep(c int) modelVerdict {
	verdict := fine
	if !m.kind.merged() {
		verdict = m.entriesOf(c)
	}
	if !m.kind.sorted() {
		verdict = max(verdict, m.order(c))
	}
	return verdict
}

// merges reports whether a commit joins its parents.
func (m *kindModel) merges(c int) bool { return m.joins || len(m.parents[c]) > 1 }

// asCommit has a commit on a parent alone, or without any if that is negative.
func (m *kindModel) asCommit(p, c int, joins bool) *kindModel {
	one := &kindModel{kind: m.kind, whole: m, joins: joins, moved: m.moved, since: m.since, rewrite: m.rewrite, logs: slices.Clone(m.logs), parents: slices.Clone(m.parents)}
	one.parents[c] = nil
	if p >= 0 && p != c {
		one.parents[c] = []int{p}
	}
	return one
}

// step judges one edge as a step, in what is judged so: from a parent, or from nothing if that is negative. joins says whether the step is that
// of a merge that has landed.
func (m *kindModel) step(p, c int, entries, order, joins bool) modelVerdict {
	verdict := fine
	if p == c {
		return verdict
	}
	one := m.asCommit(p, c, joins)
	if entries && m.kind.merged() {
		verdict = one.entriesOf(c)
	}
	if order {
		verdict = max(verdict, one.order(c))
	}
	return verdict
}

// line judges the first-parent line of what has landed, back to known commits.
func (m *kindModel) line(tip int, known, past map[int]bool) (joins int, verdict modelVerdict) {
	verdict = fine
	for c := tip; ; c = m.parents[c][0] {
		if known[c] {
			return c, verdict
		}
		p := -1
		if len(m.parents[c]) > 0 {
			p = m.parents[c][0]
		}
		if !past[c] {
			verdict = max(verdict, m.step(p, c, true, m.kind.sorted(), len(m.parents[c]) > 1))
		}
		if p < 0 {
			return -1, verdict
		}
	}
}

// landed judges a history that the default branch holds.
func (m *kindModel) landed(tip int) modelVerdict {
	past := map[int]bool{}
	if m.since >= 0 {
		past = m.reach(m.since)
	}
	_, verdict := m.line(tip, nil, past)
	for c := range m.reach(tip) {
		if !past[c] {
			verdict = max(verdict, m.inStep(c))
		}
	}
	return verdict
}

// pushOnDefault judges a move of the default branch.
func (m *kindModel) pushOnDefault(old, tip int) modelVerdict {
	known := m.reach(old)
	joins, verdict := m.line(tip, known, nil)
	if joins != old {
		verdict = max(verdict, m.branch(old, tip, m.reach(tip)[old]))
	}
	for c := range m.reach(tip) {
		if !known[c] {
			verdict = max(verdict, m.inStep(c), m.targetFirst(old, c))
		}
	}
	return max(verdict, m.replaced(old, tip))
}

// branch judges a branch as one step from its merge bases with a target. withTarget says whether its new files have to sort after the target's.
func (m *kindModel) branch(target, head int, withTarget bool) modelVerdict {
	bases := m.bases(target, head)
	verdict, both := fine, false
	if len(bases) == 0 {
		verdict = m.step(-1, head, true, false, false)
	}
	for _, b := range bases {
		verdict = max(verdict, m.step(b, head, true, false, false))
		both = both || b == target
	}
	if !m.kind.files {
		return verdict
	}
	inBase := func(folder, name string) bool {
		return slices.ContainsFunc(bases, func(b int) bool { return slices.Contains(m.logs[b][folder].names, name) })
	}
	against := slices.Clone(bases)
	if withTarget {
		against = append(against, target)
	}
	for folder, now := range m.logs[head] {
		there := m.logs[target][folder]
		var added []string
		for _, name := range now.names {
			is := func(e string) bool { return strings.HasPrefix(e, name+"\x00") }
			switch {
			case inBase(folder, name):
			case !slices.Contains(there.names, name):
				added = append(added, name)
			case m.kind.merged() && len(minus(filter(there.entries, is), now.entries)) > 0:
				verdict = bad
			}
		}
		stays := func(name string) bool { // a file that the branch drops holds no place
			return slices.Contains(now.names, name) || len(bases) == 0 || !slices.Contains(m.logs[bases[0]][folder].names, name)
		}
		for _, b := range against {
			if m.kind.sorted() && m.kind.outOfOrder(added, filter(m.logs[b][folder].names, stays)) {
				verdict = bad
			}
		}
	}
	return verdict
}

func filter(entries []string, is func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(e string) bool { return !is(e) })
}

// bases are the best common ancestors of two commits.
func (m *kindModel) bases(a, b int) []int {
	var out []int
	ours, theirs := m.reach(a), m.reach(b)
	for base := range m.parents {
		best := ours[base] && theirs[base]
		for n := base + 1; n < len(m.parents); n++ {
			best = best && (!ours[n] || !theirs[n] || !m.reach(n)[base])
		}
		if best {
			out = append(out, base)
		}
	}
	return out
}

func (m *kindModel) between(base, head int) modelVerdict {
	verdict, known := fine, m.reach(base)
	for c := range m.reach(head) {
		if !known[c] {
			verdict = max(verdict, m.commit(c))
		}
	}
	return verdict
}

// targetFirst judges whether a merge has what the target has before what the target lacks.
func (m *kindModel) targetFirst(target, c int) modelVerdict {
	if m.kind.unordered() || m.kind.merged() || len(m.parents[c]) < 2 {
		return fine
	}
	verdict := fine
	for at, now := range m.logs[c] {
		for _, has := range m.before(target, at) {
			verdict = max(verdict, m.beginsWithTarget(at, has, now.entries))
		}
	}
	return verdict
}

// beginsWithTarget judges whether a merge's log has what one log of the target has before what that lacks.
func (m *kindModel) beginsWithTarget(at string, target, now []string) modelVerdict {
	has, lacks := slices.Clone(target), false
	if r := m.rewrite; r != nil && at == r.at && begins(has, r.from) && m.done(now) {
		has = slices.Concat(r.to, has[len(r.from):])
	}
	inOrder := m.inOrderIn(has, now)
	for _, e := range now {
		i := slices.Index(has, e)
		switch {
		case i < 0 || inOrder && i > 0:
			lacks = true
		case lacks && m.since >= 0:
			return unsure // what is accepted counts on neither side
		case lacks:
			return bad
		default:
			has = slices.Delete(has, i, i+1)
		}
	}
	return fine
}

// inRange judges a range, and its two tips.
func (m *kindModel) inRange(base, head int) modelVerdict {
	verdict, known := max(m.branch(base, head, true), m.asOne(base, head)), m.reach(base)
	for c := range m.reach(head) {
		if !known[c] {
			verdict = max(verdict, m.inStep(c), m.targetFirst(base, c))
		}
	}
	if m.reach(head)[base] {
		return verdict
	}
	for _, pair := range m.tips(base, head) {
		target, ours := m.logs[base][pair[0]], m.logs[head][pair[1]]
		if !m.kind.files {
			continue // git itself stops where both sides appended
		}
		for _, e := range target.entries {
			name, _, _ := strings.Cut(e, "\x00")
			for _, o := range m.without(head, base, pair[1], ours.entries, ours.entries)[0] {
				if strings.HasPrefix(o, name+"\x00") && o != e {
					verdict = bad
				}
			}
		}
	}
	return verdict
}

// tips pairs the logs of two tips: at one path, or where one moved since the merge base.
func (m *kindModel) tips(target, head int) [][2]string {
	var out [][2]string
	add := func(t, h string) {
		if m.logs[target][t].state == readable && m.logs[head][h].state == readable && !slices.Contains(out, [2]string{t, h}) {
			out = append(out, [2]string{t, h})
		}
	}
	for at := range m.logs[target] {
		add(at, at)
	}
	for _, base := range m.bases(target, head) {
		there, here := m.moves(base, target, true), m.moves(base, head, true)
		for at := range m.logs[base] {
			t, h := at, at
			if to, moved := there[at]; moved {
				t = to
			}
			if to, moved := here[at]; moved {
				h = to
			}
			if t != at || h != at {
				add(t, h)
			}
		}
	}
	return out
}

// push judges a ref's move.
func (m *kindModel) push(old, tip int) modelVerdict {
	return max(m.between(old, tip), m.replaced(old, tip))
}

// replaced judges the old tip of a ref against the new one.
func (m *kindModel) replaced(old, tip int) modelVerdict {
	verdict, known, straight := fine, m.reach(old), m.reach(tip)[old]
	for c := range m.reach(tip) {
		if !known[c] && slices.ContainsFunc(m.parents[c], func(p int) bool { return known[p] && p != old }) {
			straight = false
		}
	}
	did, may := m.relocates(old, tip)
	if straight && !did {
		if may {
			verdict = min(unsure, m.oldTip(old, tip))
		}
		return verdict
	}
	return m.oldTip(old, tip)
}

// oldTip judges the logs of two tips of a ref.
func (m *kindModel) oldTip(old, tip int) modelVerdict {
	verdict := fine
	moved := m.moves(old, tip, true)
	for at, was := range m.logs[old] {
		if to, is := moved[at]; is {
			if !m.kind.files && !m.inOrderIn(was.entries, m.logs[tip][to].entries) {
				verdict = bad
			}
			continue
		}
		verdict = max(verdict, m.edge(old, tip, at, moved, true))
	}
	for at, now := range m.logs[tip] {
		if _, known := m.logs[old][at]; !known && (now.state == broken || now.content != "") {
			verdict = bad
		}
		if _, known := m.logs[old][at]; !known && now.state == readable {
			for _, l := range m.before(old, at) {
				if !m.inOrderIn(l, now.entries) {
					verdict = max(verdict, unsure)
				}
			}
		}
	}
	return verdict
}
