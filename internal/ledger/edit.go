package ledger

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/small"
)

// FieldChange is a field that differs between two versions of an entry.
type FieldChange struct {
	// Field is the dotted path inside the entry.
	Field string
	// From and To are the field's values with credentials masked: a string as it is, other values as canonical JSON. HasFrom and HasTo are
	// false if that version lacks the field.
	From, To       string
	HasFrom, HasTo bool
}

// EditKind says what happened to an entry between a parent and a child.
type EditKind int

// The kinds of edits.
const (
	EditModified EditKind = iota
	EditTimestampMigrated
	EditTaskReassigned
	EditDeleted
	EditReordered
)

// Edit is one entry's change between a parent and a child.
type Edit struct {
	Kind EditKind
	// OldIndex and NewIndex are the entry's indexes in the two ledgers; -1 if there is none.
	OldIndex, NewIndex int
	Changes            []FieldChange
	// Pos is where the child has the first changed field, if it has that field.
	Pos small.Pos
	// Waived is true if waivers allow the edit.
	Waived bool
	// Reopened is the new version if that is open. Open entries are not in the new ledger, so NewIndex is -1.
	Reopened *Entry
}

// RecordsFunc returns a ledger's entries in full. They are parsed only if an edit has to be explained.
type RecordsFunc func() ([]*small.Value, error)

type entryDiff struct {
	edits []Edit
	// inserted are the indexes in the child of new entries before older ones.
	inserted []int
	// last is the greatest index in the child of an entry that the parent has in any version; -1 if there is none.
	last int
}

// diffEntries explains a rewritten log entry by entry. p and c are digests with waivers applied. Lost and added entries are paired by their
// fields; in a configured log by their places and words; in the log of a single file (isFile), whose name stays, by place alone.
func diffEntries(p, c []small.Digest, before, after RecordsFunc, mayPair func(lost, added int) bool, configured, isFile bool) (entryDiff, error) {
	a := align(p, c)
	out := entryDiff{last: -1}
	for _, pair := range a.kept {
		out.last = max(out.last, pair[1])
	}
	for _, pair := range a.moved {
		out.last = max(out.last, pair[1])
		out.edits = append(out.edits, Edit{Kind: EditReordered, OldIndex: pair[0], NewIndex: pair[1]})
	}
	pairs := map[int]int{} // lost -> added
	if len(a.lost) > 0 && len(a.added) > 0 {
		old, err := before()
		if err != nil {
			return out, err
		}
		now, err := after()
		if err != nil {
			return out, err
		}
		if configured {
			words := wordLists{}
			pairs = pairByPlace(a, func(lost, added int) bool {
				return mayPair(lost, added) && (isFile || words.shareHalf(old[lost], now[added]))
			})
		} else {
			pairs = pairByFields(a, old, now, mayPair)
		}
		for lost, added := range pairs {
			out.last = max(out.last, added)
			out.edits = append(out.edits, newModification(old[lost], now[added], lost, added, configured))
		}
	}
	for _, lost := range a.lost {
		if _, paired := pairs[lost]; !paired {
			out.edits = append(out.edits, Edit{Kind: EditDeleted, OldIndex: lost, NewIndex: -1})
		}
	}
	modified := map[int]bool{}
	for _, added := range pairs {
		modified[added] = true
	}
	for _, added := range a.added {
		if added < out.last && !modified[added] {
			out.inserted = append(out.inserted, added)
		}
	}
	return out, nil
}

// maxCandidates bounds how many added entries a lost one is compared with, and maxRefused how many are looked at that may not be paired with it. A
// version beyond that is reported as a deletion and a new entry.
const maxCandidates, maxRefused = 100, 1000

// matcher recognizes two versions of one entry: their keys are equal and the test, if there is one, passes.
type matcher struct {
	key  func(*small.Value) string
	test func(sums fieldSums, o, n *small.Value) bool
}

// matchers are tried in order: the same timestamp; all but the timestamp; the same task and most other fields; for a job's switches, the
// same time, or all but the time.
var matchers = []matcher{
	{key: textOfField("timestamp")},
	{key: digestWithout("timestamp")},
	{key: textOfField("task_id"), test: mostFieldsAreEqual},
	{key: switchTime},
	{key: digestWithout("at")},
}

// SurelySameEntry reports whether two entries that [Compare] pairs are certainly versions of one. They share task and time, or the task and
// most other fields, or all but the task, or all but the time. The time alone is not enough: two writers can share it, and who drops an old
// version must not drop another entry.
func SurelySameEntry(o, n *small.Value) bool {
	if o.Kind != small.Map || n.Kind != small.Map {
		return false
	}
	sameTask := textOfField("task_id")(o) == textOfField("task_id")(n)
	return sameTask && (textOfField("timestamp")(o) == textOfField("timestamp")(n) || mostFieldsAreEqual(fieldSums{}, o, n)) ||
		digestWithout("task_id")(o) == digestWithout("task_id")(n) || digestWithout("timestamp")(o) == digestWithout("timestamp")(n)
}

// pairByFields pairs lost and added entries by the matchers. A pair stands between the same kept neighbours.
func pairByFields(a alignment, old, now []*small.Value, mayPair func(lost, added int) bool) map[int]int {
	pairs := map[int]int{}
	used := map[int]bool{}
	sums := fieldSums{}
	for _, m := range matchers {
		byKey := map[string][]int{}
		for _, added := range a.added {
			if key := m.key(now[added]); key != "" && !used[added] {
				byKey[key] = append(byKey[key], added)
			}
		}
		for _, lost := range a.lost {
			if _, done := pairs[lost]; done {
				continue
			}
			key := m.key(old[lost])
			low, high := keptNeighbours(a.kept, lost)
			tried := 0
			first, _ := slices.BinarySearch(byKey[key], low+1)
			for i := first; i < len(byKey[key]) && i-first < maxRefused && tried < maxCandidates; i++ {
				added := byKey[key][i]
				if added >= high {
					break
				}
				if !mayPair(lost, added) {
					continue
				}
				tried++
				if m.test == nil || m.test(sums, old[lost], now[added]) {
					pairs[lost], used[added] = added, true
					byKey[key] = slices.Delete(byKey[key], i, i+1)
					break
				}
			}
		}
	}
	return pairs
}

// pairByPlace pairs each lost entry with the first added one that mayPair allows, behind those already paired. A pair stands between the
// same kept neighbours.
func pairByPlace(a alignment, mayPair func(lost, added int) bool) map[int]int {
	pairs := map[int]int{}
	next := 0
	for _, lost := range a.lost {
		low, high := keptNeighbours(a.kept, lost)
		for next < len(a.added) && a.added[next] <= low {
			next++
		}
		for i := next; i < len(a.added) && a.added[i] < high && i-next < maxCandidates; i++ {
			if mayPair(lost, a.added[i]) {
				pairs[lost] = a.added[i]
				next = i + 1
				break
			}
		}
	}
	return pairs
}

// wordLists caches the sorted words of entries, because one entry is compared with many.
type wordLists map[*small.Value][]string

// ShareHalf reports whether at least half of all words of two texts are in both. Then one may be a version of the other.
func ShareHalf(a, b []byte) bool {
	return wordLists{}.shareHalf(&small.Value{Text: string(a)}, &small.Value{Text: string(b)})
}

// shareHalf is [ShareHalf] for two entries.
func (w wordLists) shareHalf(o, n *small.Value) bool {
	x, y := w.of(o), w.of(n)
	all, shared := len(x)+len(y), 0
	for len(x) > 0 && len(y) > 0 {
		switch order := strings.Compare(x[0], y[0]); {
		case order < 0:
			x = x[1:]
		case order > 0:
			y = y[1:]
		default:
			x, y = x[1:], y[1:]
			shared += 2
		}
	}
	return 2*shared >= all
}

func (w wordLists) of(v *small.Value) []string {
	words, known := w[v]
	if !known {
		words = appendWords(nil, v)
		slices.Sort(words)
		w[v] = words
	}
	return words
}

// appendWords appends the words of an entry's keys and values, in lower case. A word is a run of letters and digits or, in a text without
// any, a run of other characters.
func appendWords(words []string, v *small.Value) []string {
	words = appendTextWords(words, v.Text)
	for _, item := range v.Items {
		words = appendWords(words, item)
	}
	for _, f := range v.Fields {
		words = appendWords(appendTextWords(words, f.Key), f.Value)
	}
	return words
}

func appendTextWords(words []string, text string) []string {
	found := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(found) == 0 {
		found = strings.Fields(text) // such as ---
	}
	return append(words, found...)
}

// textOfField returns a function that reads a string field.
func textOfField(field string) func(*small.Value) string {
	return func(v *small.Value) string {
		text, _ := v.Get(field).Str()
		return text
	}
}

// switchTime returns the time of a job's switch. YAML does not read it as a string if it has no quotes.
func switchTime(v *small.Value) string {
	if at := v.Get("at"); at != nil {
		return at.Text
	}
	return ""
}

// digestWithout returns a function that digests a mapping without one field; empty for other values.
func digestWithout(field string) func(*small.Value) string {
	return func(v *small.Value) string {
		if v.Kind != small.Map {
			return ""
		}
		rest := *v
		rest.Fields = slices.DeleteFunc(slices.Clone(v.Fields), func(f small.Field) bool { return f.Key == field })
		return small.EntryDigest(&rest).String()
	}
}

// keptNeighbours returns the child's indexes of the kept entries right before and after a lost one; -1 and MaxInt if there is none.
func keptNeighbours(kept [][2]int, lost int) (low, high int) {
	low, high = -1, math.MaxInt
	i, _ := slices.BinarySearchFunc(kept, lost, func(pair [2]int, at int) int { return pair[0] - at })
	if i > 0 {
		low = kept[i-1][1]
	}
	if i < len(kept) {
		high = kept[i][1]
	}
	return low, high
}

// fieldSums caches digests of entries' fields, because one entry is compared with many.
type fieldSums map[*small.Value]map[string]small.Digest

func (s fieldSums) of(entry *small.Value) map[string]small.Digest {
	sums, known := s[entry]
	if !known {
		sums = make(map[string]small.Digest, len(entry.Fields))
		for _, f := range entry.Fields {
			sums[f.Key] = small.EntryDigest(f.Value)
		}
		s[entry] = sums
	}
	return sums
}

// mostFieldsAreEqual reports whether more than half of the fields that either version has, besides task_id, are equal.
func mostFieldsAreEqual(sums fieldSums, o, n *small.Value) bool {
	x, y := sums.of(o), sums.of(n)
	same, all := 0, len(y)
	for key, sum := range x {
		other, both := y[key]
		if !both {
			all++
		}
		if both && sum == other && key != "task_id" {
			same++
		}
	}
	return 2*same > all-1 // both have a task_id
}

// newModification describes how an entry changed. Two changes that known tools make have kinds of their own, but not in a configured log.
func newModification(o, n *small.Value, before, after int, configured bool) Edit {
	e := Edit{Kind: EditModified, OldIndex: before, NewIndex: after, Changes: FieldChanges(o, n)}
	if len(e.Changes) > 0 {
		e.Pos = KeyPos(n, e.Changes[0].Field)
	}
	if configured || len(e.Changes) != 1 {
		return e
	}
	change := e.Changes[0]
	switch {
	case change.Field == "timestamp" && sameInstant(change.From, change.To):
		e.Kind = EditTimestampMigrated
	case change.Field == "task_id" && change.HasFrom && change.To == MetaPrefix+"historical/"+change.From:
		e.Kind = EditTaskReassigned
	}
	return e
}

// KeyPos returns the position of a field's key, given its dotted path; the zero Pos if there is none.
func KeyPos(v *small.Value, path string) small.Pos {
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Key == path {
			return f.KeyPos
		}
		if rest, ok := strings.CutPrefix(path, f.Key+"."); ok && f.Value.Kind == small.Map {
			if pos := KeyPos(f.Value, rest); pos.Line > 0 {
				return pos
			}
		}
	}
	return small.Pos{}
}

// sameInstant reports whether two timestamps are less than a microsecond apart.
func sameInstant(from, to string) bool {
	a, okA := ParseInstant(from)
	b, okB := ParseInstant(to)
	return okA && okB && a.Sub(b).Abs() < time.Microsecond
}

// FieldChanges lists the fields in which two versions of an entry differ, in the order of the old version; new fields come last. Members of
// mappings are listed one by one. A nil version is an absent entry.
func FieldChanges(o, n *small.Value) []FieldChange {
	if o != nil && o.Kind != small.Map || n != nil && n.Kind != small.Map {
		return []FieldChange{changedField("", o, n)}
	}
	old, now := membersOf(o), membersOf(n)
	var out []FieldChange
	compare := func(key string) {
		x, y := old[key], now[key]
		switch {
		case x != nil && y != nil && small.EntryDigest(x) == small.EntryDigest(y):
		case x == nil || y == nil || x.Kind != small.Map || y.Kind != small.Map:
			out = append(out, changedField(key, x, y))
		default:
			for _, inner := range FieldChanges(x, y) {
				inner.Field = key + "." + inner.Field
				out = append(out, inner)
			}
		}
	}
	for _, f := range o.Members() {
		compare(f.Key)
	}
	for _, f := range n.Members() {
		if old[f.Key] == nil {
			compare(f.Key)
		}
	}
	return out
}

func membersOf(v *small.Value) map[string]*small.Value {
	members := make(map[string]*small.Value, len(v.Members()))
	for _, f := range v.Members() {
		members[f.Key] = f.Value
	}
	return members
}

// changedField describes a field's change; a nil version lacks the field. Values that differ only in type are written as canonical JSON.
// Credentials are masked here, where the names of the inner fields are known.
func changedField(field string, o, n *small.Value) FieldChange {
	c := FieldChange{Field: field, HasFrom: o != nil, HasTo: n != nil}
	o, inFrom := masked(field, o)
	n, inTo := masked(field, n)
	if o != nil {
		c.From = o.Display()
	}
	if n != nil {
		c.To = n.Display()
	}
	if o != nil && n != nil && c.From == c.To {
		c.From, c.To = o.Canonical(), n.Canonical()
	}
	c.From, c.To = secret.Conceal(c.From, c.To, cmp.Or(inFrom, inTo))
	return c
}
