package splice

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Case is one log whose sides are to be combined.
type Case struct {
	// Path is the log's, from the root of the tree.
	Path string
	// Ours is the side that is checked out.
	Ours   Version
	Theirs []Version
	Now    time.Time
	// Comparer is that of the trusted configuration, Others those of the other sides', whose baselines are kept too.
	Comparer read.LogComparer
	Others   []read.LogComparer
	Limits   small.Limits
	// Unmarked leaves it to the caller to add the entry that makes the resolution explicit.
	Unmarked bool
	// Published says which of some entries a remote-tracking branch's log has: those keep their text and time. It is asked only where an
	// entry would not stay as it is; nil if none is published.
	Published func(entries []ledger.Entry) (map[small.Digest]bool, error)
}

// Resolution is a log that holds every side.
type Resolution struct {
	// Text is the file.
	Text []byte
	// Entries is the number of entries.
	Entries int
	// Added is true if it ends in a new entry that makes the resolution explicit; none is needed if one side continues the others.
	Added bool
	// Inserted is true if entries stand before older ones of ours.
	Inserted bool
	// Brought says how many entries only that side has, ours first.
	Brought []int
}

// Resolve combines the sides of a log. The error is a *failure.Error that says what stands in the way.
func (c Case) Resolve() (*Resolution, error) {
	l, err := c.read()
	if err != nil {
		return nil, err
	}
	items := l.versions[0].items
	for _, side := range l.versions[1:] {
		a, b := l.waived(items, side.items), l.waived(side.items, items)
		before, after := ledgerOf(a), ledgerOf(b)
		switch {
		case l.Comparer.Accepts(after, before):
			items = a
		case l.Comparer.Accepts(before, after):
			items = b
		default:
			if items, err = l.merge(a, b); err != nil {
				return nil, err
			}
		}
	}
	out, err := l.resolution(items)
	if err == nil {
		err = l.increases(items, ledgerOf(items))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Insert puts entries of another log, which may have conflict markers, into ours, each at its place by time.
func (c Case) Insert(from Version, entries map[small.Digest]bool) (*Resolution, error) {
	l, err := c.read()
	if err != nil {
		return nil, err
	}
	from.Picked, from.Data = true, withoutMarkers(from.Data)
	v, err := l.parse(&from)
	if err != nil {
		return nil, err
	}
	ours, added := l.versions[0].items, keep(v.items, func(it item) bool { return entries[it.Digest] })
	slices.SortStableFunc(added, func(a, b item) int {
		at, _ := ledger.ParseInstant(a.Entry.Timestamp)
		other, _ := ledger.ParseInstant(b.Entry.Timestamp)
		return at.Compare(other)
	})
	// What is before the first of them stays as it is, in whatever order.
	before := 0
	for i, it := range ours {
		if len(late(added[:1], []item{it})) == 0 {
			before = i + 1
		}
	}
	v.items = slices.Concat(ours[:before], added)
	v.ledger = ledgerOf(v.items)
	l.versions = append(l.versions, v)
	items, err := l.merge(ours, v.items)
	if err != nil {
		return nil, err
	}
	return l.resolution(items)
}

// resolution is a list of entries as a log.
func (l *log) resolution(items []item) (*Resolution, error) {
	result := ledgerOf(items)
	out := &Resolution{Entries: len(items), Brought: l.brought(items)}
	out.Inserted = ledger.Relate(l.versions[0].ledger, result, l.Comparer.Equivalence).Relation == ledger.Interleaved
	if err := l.write(out, items, result); err != nil {
		return nil, err
	}
	if b := l.lostBaseline(result); b != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s: an entry would be put among the first %d, which the baseline in .small-gate.yml fixes", l.Path, b.Entries),
			Remedy: "on the side without the baseline, record the entries again after it, with the current time; " +
				"or have a person accept the merged log with `small-hook baseline`",
		}
	}
	return out, nil
}

// Made is a log in the place of the result, as a resolution; nil if it is none. Added says that no side has its reconcile entry. extra are
// its entries that no side has.
func (c Case) Made(log *ledger.Log, text []byte) (done *Resolution, extra []ledger.Entry, err error) {
	l, err := c.read()
	if err != nil {
		return nil, nil, err
	}
	if l.explicit(log.Ledger) && l.lostBaseline(log.Ledger) == nil {
		items := make([]item, log.Len())
		for i, e := range log.Entries {
			items[i] = item{Entry: e}
		}
		return &Resolution{
			Text: text, Entries: log.Len(), Brought: l.brought(items),
			Added: slices.ContainsFunc(log.Entries, func(e ledger.Entry) bool { return e.Reconciles && !l.knows(e) }),
		}, nil, nil
	}
	return nil, slices.DeleteFunc(slices.Clone(log.Entries), func(e ledger.Entry) bool {
		return e.Reconciles || l.knows(e)
	}), nil
}

// knows reports whether a side or a merge base has an entry.
func (l *log) knows(e ledger.Entry) bool {
	return l.base[e.Digest] || l.moved[e.Digest] || slices.ContainsFunc(l.versions, func(v *version) bool {
		_, known := v.places[e.Digest]
		return known
	})
}

// timestampOrder is the rule that rejects a log whose times do not increase.
const timestampOrder = "lint/timestamp-order"

// increases demands that the times increase in the common part too, if the gate would reject the result for it. No new entry
// corrects that; only a person can accept it.
func (l *log) increases(items []item, result *ledger.Ledger) error {
	if !l.Comparer.Policy.Rejects(timestampOrder) {
		return nil
	}
	accepted := 0
	if l.Comparer.Baselined(result) {
		accepted = l.Comparer.Baseline.Entries
	}
	for i := max(accepted, 1); i < len(items); i++ {
		at, ok := ledger.ParseInstant(items[i].Entry.Timestamp)
		previous, known := ledger.ParseInstant(items[i-1].Entry.Timestamp)
		if !ok || !known || at.After(previous) {
			continue
		}
		f := l.unsound(items[i].from.Version, fmt.Sprintf("%s: %s is not later than %s before it: the commit would be rejected (%s)",
			l.Path, ledger.Describe(items[i].Entry), ledger.Describe(items[i-1].Entry), timestampOrder))
		if l.base[items[i].Digest] {
			f.Remedy = "a person has to accept it: `small-hook baseline " + l.mergeBase() + "`; then review .small-gate.yml and commit it by itself"
		}
		return f
	}
	return nil
}

// mergeBase is the one commit from which a side and ours parted, to be typed.
func (l *log) mergeBase() string {
	for _, v := range l.versions {
		if len(v.Bases) == 1 && !v.Picked {
			return v.Bases[0].ID
		}
	}
	return "$(git merge-base HEAD BRANCH)"
}

// brought counts, for each side, the entries that only it has.
func (l *log) brought(items []item) []int {
	out := make([]int, len(l.versions))
	has := make([]map[small.Digest]bool, len(l.versions))
	for i, v := range l.versions {
		has[i] = l.classes(v.items)
	}
	for _, it := range items {
		only := -1
		for i := range has {
			switch {
			case !has[i][l.class(it)]:
			case only >= 0:
				only = len(has)
			default:
				only = i
			}
		}
		if only >= 0 && only < len(out) {
			out[only]++
		}
	}
	return out
}

// write makes the text of the items: a side's own if it has exactly these, else the sides' texts put together, with a new entry
// unless the resolution is explicit without one.
func (l *log) write(out *Resolution, items []item, result *ledger.Ledger) error {
	explicit := l.explicit(result)
	own := l.verbatim(items)
	if explicit && own != nil && (own == l.versions[0] || l.untouched(l.versions[0])) {
		out.Text = own.Data
		return nil
	}
	var entry Entry
	if !explicit && !l.Unmarked {
		entry = l.entry(result, out.Brought)
	}
	var err error
	for _, anew := range []bool{false, true} {
		if out.Text, err = l.compose(items, entry, anew); err == nil {
			err = l.check(out.Text, items, entry != nil)
		}
		if err == nil {
			if out.Added = entry != nil; out.Added {
				out.Entries++
			}
			return nil
		}
	}
	if explicit && own != nil {
		out.Text = own.Data
		return nil
	}
	return err
}

// explicit reports whether the gate accepts a ledger as the next version of every side's.
func (l *log) explicit(result *ledger.Ledger) bool {
	return !slices.ContainsFunc(l.versions, func(v *version) bool {
		if v.Picked { // no commit has it as a parent
			return !l.Comparer.Keeps(v.ledger, result)
		}
		return !l.Comparer.Accepts(v.ledger, result)
	})
}

// verbatim is a side that has exactly these entries, nil if none has; of several, one whose text has changed since the sides parted.
func (l *log) verbatim(items []item) *version {
	var found *version
	for _, v := range l.versions {
		same := v.doc != nil && slices.EqualFunc(v.written.Entries, items, func(e ledger.Entry, it item) bool { return e.Digest == it.Digest })
		if same && !l.untouched(v) {
			return v
		}
		if same && found == nil {
			found = v
		}
	}
	return found
}

// untouched reports whether a side has the text of a merge base.
func (l *log) untouched(v *version) bool {
	return slices.ContainsFunc(l.versions, func(w *version) bool {
		return slices.ContainsFunc(w.Bases, func(base Version) bool { return bytes.Equal(base.Data, v.Data) })
	})
}

// check demands of a text that was put together that every entry is as it was, and that the gate accepts it.
func (l *log) check(text []byte, items []item, added bool) error {
	_, result, problems := l.document(text)
	if result == nil {
		return l.uncopied(fmt.Sprintf("line %d of the result: %s", max(problems[0].Pos.Line, 1), problems[0].Message))
	}
	want := len(items)
	if added {
		want++
	}
	if result.Len() != want {
		return l.uncopied(fmt.Sprintf("the result would have %d entries, not %d", result.Len(), want))
	}
	for i, it := range items {
		if result.Entries[i].Digest != it.Digest {
			return l.uncopied(fmt.Sprintf("%s of %s would change", ledger.Describe(it.Entry), it.from.Name))
		}
	}
	if added && (!result.Entries[want-1].Reconciles || !result.Entries[want-1].Evidenced) {
		return l.uncopied("the entry for meta/reconcile-merge would not be read as one")
	}
	if !l.Unmarked && !l.explicit(result.Ledger) {
		return l.uncopied("the result would not have every entry of every side in order")
	}
	return nil
}

// uncopied is the failure of a log whose entries cannot be copied.
func (l *log) uncopied(why string) *failure.Error {
	remedy := "write the list in its plain form on each side (a dash for each entry, a line break after the last line) and commit that, " +
		"which changes no entry; then merge again"
	if slices.ContainsFunc(l.versions, func(v *version) bool { return v.doc != nil && v.doc.Linked() }) {
		remedy = "the log uses anchors, aliases or tags: replace them by their content on each side and commit that, which changes no entry; then merge again"
	}
	return &failure.Error{Message: fmt.Sprintf("%s: the entries cannot be copied unchanged: %s", l.Path, why), Remedy: remedy}
}

// lostBaseline is a baseline with which a side begins and a result does not, nil if there is none.
func (l *log) lostBaseline(result *ledger.Ledger) *policy.Baseline {
	for _, c := range l.comparers {
		if slices.ContainsFunc(l.versions, func(v *version) bool { return c.Baselined(v.ledger) }) && !c.Baselined(result) {
			return c.Baseline
		}
	}
	return nil
}
