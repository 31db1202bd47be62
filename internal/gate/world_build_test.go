package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// builder makes a world from a tape.
type builder struct {
	*tape
	world
	// evil is how often a commit breaks a rule: once in so many; 0 is never.
	evil int
	tick int
	// waive is how many of the next edits get a waiver.
	waive int
}

// firstTime is when the entries of made-up logs begin.
var firstTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// buildWorld makes a history of 2 to 12 commits. Half of all histories keep
// every rule.
func buildWorld(t *tape) *world {
	b := &builder{tape: t}
	commits := 2 + b.n(11)
	b.evil = []int{0, 0, 6, 2}[b.n(4)]
	b.waive = []int{0, 0, 1, 4}[b.n(4)]
	for range commits {
		b.addCommit()
	}
	last := commits - 1
	b.pairs = append(b.pairs, [2]int{0, last})
	for range 3 {
		b.pairs = append(b.pairs, [2]int{b.n(commits), last - b.n(min(3, commits))})
	}
	return &b.world
}

func (b *builder) addCommit() {
	n := len(b.commits)
	if n == 0 || b.oneIn(24) {
		c := worldCommit{logs: map[string]worldLog{}}
		if !b.oneIn(6) {
			c.logs[""] = worldLog{entries: b.entries(b.n(5))}
		}
		b.commits = append(b.commits, c)
		return
	}
	parents := []int{n - 1}
	if b.oneIn(3) {
		parents[0] = b.n(n)
	}
	if n > 1 && b.oneIn(3) {
		for range 1 + b.n(5)/4 {
			if p := b.n(n); !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
	}
	c := worldCommit{parents: parents, logs: map[string]worldLog{}}
	followed := b.followed(parents)
	for _, dir := range workspaceDirs {
		if log := b.mergedLog(parents, dir, followed); log != nil {
			c.logs[dir] = *log
		}
	}
	if len(parents) == 1 {
		b.change(&c)
	}
	b.commits = append(b.commits, c)
}

// change edits one log of an ordinary commit.
func (b *builder) change(c *worldCommit) {
	dir := []string{"", "", "", "", "", "", "sub", "deep/er"}[b.n(8)]
	log, there := c.logs[dir]
	switch {
	case there && log.breakage == nil && b.oneIn(10):
		b.move(c, dir)
		return
	case !there && (dir == "" || b.oneIn(3)):
		log.entries = b.entries(b.n(4))
	case !there:
		return
	case log.breakage != nil:
		if !b.oneIn(3) {
			log.breakage = nil
			log.entries = b.honest(log.entries)
		}
	case b.isEvil():
		b.breakRule(c, dir)
		return
	default:
		log.entries = b.honest(log.entries)
		log.style = b.restyle(log.style)
	}
	c.logs[dir] = log
}

// move moves a workspace to where there is none.
func (b *builder) move(c *worldCommit, dir string) {
	to := workspaceDirs[b.n(len(workspaceDirs))]
	if _, taken := c.logs[to]; taken {
		return
	}
	log := c.logs[dir]
	if b.oneIn(2) {
		log.entries = append(slices.Clone(log.entries), b.entries(1)...)
	}
	delete(c.logs, dir)
	c.logs[to] = log
}

// followed says, for the parents of a merge, which log of one has moved on
// another: it is merged at the new place.
func (b *builder) followed(parents []int) map[int]map[string]string {
	out := map[int]map[string]string{}
	for _, p := range parents {
		for _, q := range parents {
			for _, from := range workspaceDirs {
				for _, to := range workspaceDirs {
					log, there := b.commits[p].logs[from]
					other, moved := b.commits[q].logs[to]
					_, stays := b.commits[q].logs[from]
					_, taken := b.commits[p].logs[to]
					alike := len(log.entries) > 0 && len(other.entries) > 0 && log.entries[0].key() == other.entries[0].key()
					if there && moved && !stays && !taken && alike && out[q] == nil {
						out[p] = map[string]string{from: to}
					}
				}
			}
		}
	}
	return out
}

func (b *builder) isEvil() bool { return b.evil > 0 && b.oneIn(b.evil) }

// honest makes a change that keeps the rules.
func (b *builder) honest(entries []logEntry) []logEntry {
	switch b.n(8) {
	case 5:
		return entries
	case 6: // a backdated entry, made explicit
		return append(b.insert(entries, b.entry()), b.marker())
	}
	return append(slices.Clone(entries), b.entries(1+b.n(3))...)
}

// breakRule makes a change that usually breaks a rule.
func (b *builder) breakRule(c *worldCommit, dir string) {
	log := c.logs[dir]
	switch kind := b.n(16); kind {
	case 0:
		delete(c.logs, dir)
		return
	case 1:
		log.breakage = &breakages[b.n(len(breakages))]
	case 2: // the workspace moves, perhaps with a change
		delete(c.logs, dir)
		if b.oneIn(2) {
			log.entries = b.damage(log.entries)
		}
		if dir == "" {
			c.logs["sub"] = log
		} else {
			c.logs[""] = log
		}
		return
	case 3: // as it was in an earlier commit
		if earlier, there := b.commits[b.n(len(b.commits))].logs[dir]; there {
			log.entries = earlier.entries
		}
	default:
		log.entries = b.damage(log.entries)
	}
	log.style = b.restyle(log.style)
	c.logs[dir] = log
}

// damage changes what is there already.
func (b *builder) damage(entries []logEntry) []logEntry {
	out := slices.Clone(entries)
	if len(out) == 0 {
		return b.entries(1)
	}
	i := b.n(len(out))
	switch b.n(9) {
	case 0, 1, 2:
		out[i] = b.edit(out[i])
		b.excuse(entries[i], out[i])
	case 3:
		out = slices.Delete(out, i, i+1)
		b.excuse(entries[i], nil)
	case 4:
		out = b.insert(out, b.entry())
	case 5:
		j := b.n(len(out))
		out[i], out[j] = out[j], out[i]
	case 6:
		out = out[:i]
	case 7:
		out = b.insert(out, out[i])
	case 8: // a marker that does not count
		m := b.marker()
		switch b.n(4) {
		case 0:
			delete(m, "evidence")
		case 1:
			m["task_id"] = "meta/reconcile-merge2"
		case 2:
			m["task_id"] = "Meta/reconcile-merge"
		case 3:
			m["evidence"] = " \t"
		}
		out = append(b.insert(out, b.entry()), m)
	}
	if b.oneIn(3) {
		out = append(out, b.entries(1)...)
	}
	return out
}

// excuse may add a waiver for an edit that was just made.
func (b *builder) excuse(before, after logEntry) {
	if b.waive > 0 {
		b.waive--
		b.waivers = append(b.waivers, waivedEdit{before, after})
	}
}

func (b *builder) insert(entries []logEntry, e logEntry) []logEntry {
	return slices.Insert(slices.Clone(entries), b.n(len(entries)+1), e)
}

func (b *builder) entries(n int) []logEntry {
	var out []logEntry
	for range n {
		out = append(out, b.entry())
	}
	return out
}

var (
	someTasks = []string{"task-1", "task-2", "task-3", "meta/accept-plan", "meta/reconcile-plan"}
	someTexts = []string{
		"tests pass", "reads 1204 rows", "it's done: \"all\" of it", "two\nlines", "tab\there", "# no comment",
		"größer", "42", "true", " spaced ", "a: b", "- dash", "<<<<<<< HEAD", "\U0001f600", "~",
	}
)

func (b *builder) timestamp() string {
	b.tick++
	return firstTime.Add(time.Duration(b.tick) * time.Minute).Format("2006-01-02T15:04:05.000Z")
}

func (b *builder) entry() logEntry {
	e := logEntry{"task_id": someTasks[b.n(len(someTasks))], "timestamp": b.timestamp(), "evidence": someTexts[b.n(len(someTexts))]}
	switch b.n(8) {
	case 5:
		e["notes"] = someTexts[b.n(len(someTexts))]
	case 6:
		e["verification"] = map[string]any{"ran": someTexts[b.n(len(someTexts))], "passed": b.n(100), "all": b.n(2) == 0}
	case 7:
		e["commit"] = fmt.Sprintf("%07x", b.n(256))
	}
	return e
}

func (b *builder) marker() logEntry {
	return logEntry{"task_id": "meta/reconcile-merge", "timestamp": b.timestamp(), "evidence": "both sides"}
}

// edit changes one value of an entry, a little.
func (b *builder) edit(e logEntry) logEntry {
	out := e.clone()
	evidence, _ := e["evidence"].(string)
	switch b.n(11) {
	case 0:
		at := b.n(len(evidence) + 1)
		for at < len(evidence) && evidence[at]&0xc0 == 0x80 {
			at++ // not inside a character
		}
		out["evidence"] = evidence[:at] + " " + evidence[at:]
	case 1:
		out["evidence"] = strings.ToUpper(evidence)
	case 2:
		out["notes"] = someTexts[b.n(len(someTexts))]
	case 3:
		keys := slices.Sorted(maps.Keys(e))
		delete(out, keys[b.n(len(keys))])
	case 4:
		out["evidence"] = []any{42, true, nil, map[string]any{"text": evidence}}[b.n(4)]
	case 5: // the same instant
		out["timestamp"] = strings.Replace(fmt.Sprint(e["timestamp"]), "000Z", "000000Z", 1)
	case 6:
		out["task_id"] = "meta/historical/" + fmt.Sprint(e["task_id"])
	case 7:
		out["task_id"] = someTasks[b.n(len(someTasks))]
	case 8:
		out["verification"] = map[string]any{"passed": b.n(100)}
	case 9:
		return b.entry()
	case 10: // at the very end of what is written
		if inner, ok := out["verification"].(map[string]any); ok {
			inner["ran"] = fmt.Sprint(inner["ran"]) + "\nmore"
		}
	}
	if out.key() == e.key() {
		out["evidence"] = evidence + "."
	}
	return out
}

func (b *builder) restyle(s style) style {
	if !b.oneIn(5) {
		return s
	}
	return style{
		quotes: quotes(b.n(int(quoteKinds))), reversed: b.oneIn(2), indented: b.oneIn(2), comments: b.oneIn(3),
		crlf: b.oneIn(4), flow: b.oneIn(4), anchors: b.oneIn(4),
	}
}

// mergedLog makes the log of a commit from those of its parents: a single
// parent's own, or a merge of several that usually keeps the rules.
func (b *builder) mergedLog(parents []int, dir string, followed map[int]map[string]string) *worldLog {
	var logs []worldLog
	for _, p := range parents {
		for _, from := range workspaceDirs {
			to, moved := followed[p][from]
			if !moved {
				to = from
			}
			if log, there := b.commits[p].logs[from]; there && dir == to {
				logs = append(logs, log)
			}
		}
	}
	if len(logs) == 0 {
		return nil
	}
	log := logs[0]
	if len(parents) == 1 {
		return &log
	}
	log.breakage = nil
	for _, other := range logs[1:] {
		log.entries = b.interleave(log.entries, other.entries)
	}
	evil := b.isEvil()
	mark := b.oneIn(8)
	for _, l := range logs {
		mark = mark || !isPrefix(models(l.entries), models(log.entries))
	}
	if mark && (!evil || b.oneIn(2)) {
		log.entries = append(slices.Clone(log.entries), b.marker())
	}
	if evil {
		switch b.n(6) {
		case 0: // no marker, perhaps
		case 1:
			log = logs[b.n(len(logs))]
		case 2:
			return nil
		default:
			log.entries = b.damage(log.entries)
		}
	} else if b.oneIn(3) {
		log.entries = append(slices.Clone(log.entries), b.entries(1)...)
	}
	log.style = b.restyle(log.style)
	return &log
}

func models(entries []logEntry) []modelEntry {
	var out []modelEntry
	for _, e := range entries {
		out = append(out, e.model())
	}
	return out
}

// interleave merges two lists without changing either's order, if that can
// be done.
func (b *builder) interleave(ours, theirs []logEntry) []logEntry {
	var out []logEntry
	for len(ours) > 0 || len(theirs) > 0 {
		switch {
		case len(theirs) == 0:
			out, ours = append(out, ours[0]), ours[1:]
		case len(ours) == 0:
			out, theirs = append(out, theirs[0]), theirs[1:]
		case ours[0].key() == theirs[0].key():
			out, ours, theirs = append(out, ours[0]), ours[1:], theirs[1:]
		case has(models(theirs), ours[0].key()), !has(models(ours), theirs[0].key()) && b.oneIn(3):
			out, theirs = append(out, theirs[0]), theirs[1:]
		default:
			out, ours = append(out, ours[0]), ours[1:]
		}
	}
	return out
}
