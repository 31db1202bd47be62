package reconcile

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// Case is one log whose sides are to be brought together.
type Case struct {
	// Path is the log's, from the root of the tree.
	Path string
	// Ours is the side that is checked out. Theirs are those that come to it.
	Ours   Version
	Theirs []Version
	// Now is the present.
	Now time.Time
	// Sides says how entries are compared, Limits what may be read.
	Sides  read.LogComparer
	Limits small.Limits
	// Baselines are what the configurations of the other sides say: theirs are
	// to be kept too.
	Baselines []read.LogComparer
}

// Resolution is a log in which every side can be found again.
type Resolution struct {
	// Text is the file.
	Text []byte
	// Entries is the number of entries.
	Entries int
	// Added is true if an entry was added that makes the resolution explicit;
	// without it one side follows the others anyway.
	Added bool
	// Brought says how many entries each side alone has, ours first.
	Brought []int
}

// Resolve brings the sides of a log together. The error is a *failure.Error that
// says what stands in the way and what to do about it; there is nothing honest
// to be done then.
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
		case l.sides.Accepts(after, before):
			items = a
		case l.sides.Accepts(before, after):
			items = b
		default:
			if items, err = l.merge(a, b); err != nil {
				return nil, err
			}
		}
	}
	out := &Resolution{Entries: len(items), Brought: l.brought(items)}
	if err := l.write(out, items, c.Now); err != nil {
		return nil, err
	}
	if err := l.increases(items); err != nil {
		return nil, err
	}
	return out, l.keepsBaseline(out)
}

// increases demands that the times increase in what is there already too, where
// the gate would reject the result for it. No edit may mend that, only a person
// accept it.
func (l *log) increases(items []item) error {
	if !l.sides.Ordered() {
		return nil
	}
	accepted := 0
	if l.sides.Baselined(ledgerOf(items)) {
		accepted = l.sides.BaselineEntries()
	}
	for i := max(accepted, 1); i < len(items); i++ {
		at, ok := ledger.ParseInstant(items[i].Entry.Timestamp)
		previous, known := ledger.ParseInstant(items[i-1].Entry.Timestamp)
		if !ok || !known || at.After(previous) {
			continue
		}
		remedy := "record the entry again on its side, with the current time, then merge again"
		if l.base[items[i].Digest] {
			remedy = "a person has to accept it: undo what is under way (`git merge --abort`), type `small-hook baseline " + l.accepting() +
				"`, review .small-gate.yml and commit it by itself, then merge again"
		}
		return &failure.Error{
			Message: fmt.Sprintf("%s: %s is not later than %s before it: the commit would be rejected (lint/timestamp-order)",
				l.path, ledger.Describe(items[i].Entry), ledger.Describe(items[i-1].Entry)),
			Remedy: remedy,
		}
	}
	return nil
}

// accepting is the commit whose log a baseline is to accept.
func (l *log) accepting() string {
	for _, v := range l.versions {
		if len(v.Bases) == 1 && !v.Picked {
			return v.parting(0)
		}
	}
	return (&Version{}).parting(0)
}

func (c Case) read() (*log, error) {
	l := &log{path: c.Path, sides: c.Sides, baselines: append([]read.LogComparer{c.Sides}, c.Baselines...), limits: c.Limits, base: map[small.Digest]bool{}}
	ours, err := l.read(&c.Ours)
	if err != nil {
		return nil, err
	}
	l.versions = []*version{ours}
	for i := range c.Theirs {
		theirs, err := l.read(&c.Theirs[i])
		if err != nil {
			return nil, err
		}
		if err := l.parted(theirs, ours); err != nil {
			return nil, err
		}
		l.versions = append(l.versions, theirs)
	}
	return l, nil
}

// brought counts, for each side, the entries that it alone has.
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

// write makes the text of the items: a side's own where that has just these, else
// the sides' texts put together, with a new entry unless one is there that makes
// the resolution explicit.
func (l *log) write(out *Resolution, items []item, now time.Time) error {
	explicit := l.explicit(ledgerOf(items))
	own := l.verbatim(items)
	if explicit && own != nil && (own == l.versions[0] || l.untouched(l.versions[0])) {
		out.Text = own.Data
		return nil
	}
	entry, err := l.entry(items, out.Brought, now)
	if explicit {
		entry, err = nil, nil
	}
	if err != nil {
		return err
	}
	var reason error
	for _, how := range l.strategies() {
		text, err := l.compose(items, entry, how)
		if err == nil {
			err = l.check(text, items, entry != nil)
		}
		if err == nil {
			out.Text, out.Added = text, entry != nil
			if out.Added {
				out.Entries++
			}
			return nil
		}
		if reason == nil {
			reason = err
		}
	}
	if explicit && own != nil {
		out.Text = own.Data
		return nil
	}
	return reason
}

// strategies are the ways to put a text together, best first. A version with
// anchors can have to be copied as a whole.
func (l *log) strategies() []strategy {
	out := []strategy{{leads: true}, {leads: false}}
	for _, v := range l.versions {
		if v.doc != nil && v.doc.Linked() {
			out = append(out, strategy{prefer: v, leads: true}, strategy{prefer: v, leads: false})
		}
	}
	return out
}

// explicit reports whether a ledger is one that the gate passes behind each
// side.
func (l *log) explicit(result *ledger.Ledger) bool {
	return !slices.ContainsFunc(l.versions, func(v *version) bool { return !l.sides.Accepts(v.ledger, result) })
}

// verbatim is a side that has just these entries, nil if none has. Of several, one
// whose text was changed since the sides parted is taken.
func (l *log) verbatim(items []item) *version {
	var found *version
	for _, v := range l.versions {
		same := v.doc != nil && slices.EqualFunc(v.doc.Root.Get("entries").Items, items, func(value *small.Value, it item) bool {
			return small.EntryDigest(value) == it.Digest
		})
		if same && !l.untouched(v) {
			return v
		}
		if same && found == nil {
			found = v
		}
	}
	return found
}

// untouched reports whether a side has the text that was there when the sides
// parted.
func (l *log) untouched(v *version) bool {
	return slices.ContainsFunc(l.versions, func(w *version) bool {
		return slices.ContainsFunc(w.Bases, func(base []byte) bool { return bytes.Equal(base, v.Data) })
	})
}

// check reads a text that was put together and demands that it is what it is to
// be: every entry as it was, and every side in it as the gate demands.
func (l *log) check(text []byte, items []item, added bool) error {
	doc, problems := small.Parse(text, l.limits)
	if doc == nil {
		return l.uncopied(fmt.Sprintf("line %d of the result: %s", max(problems[0].Pos.Line, 1), problems[0].Message))
	}
	result, problems := ledger.LedgerOf(doc)
	if result == nil {
		return l.uncopied(problems[0].Message)
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
			return l.meansElse(it)
		}
	}
	if added && (!result.Entries[want-1].Reconciles || !result.Entries[want-1].Evidenced) {
		return l.uncopied("the entry for meta/reconcile-merge would not be read as one")
	}
	if !l.explicit(result) {
		return l.uncopied("the result would not have every entry of every side in order")
	}
	return nil
}

// uncopied is the failure of a text that cannot be put together from the sides'
// own.
func (l *log) uncopied(why string) *failure.Error {
	remedy := "write the list in its plain form on each side (a dash for each entry, a line break after the last line) and commit that, " +
		"which changes no entry; then merge again"
	if slices.ContainsFunc(l.versions, func(v *version) bool { return v.doc != nil && v.doc.Linked() }) {
		remedy = "the log uses anchors, aliases or tags: replace them by their content on each side and commit that, which changes no entry; then merge again"
	}
	return &failure.Error{Message: fmt.Sprintf("%s: the entries cannot be copied unchanged: %s", l.path, why), Remedy: remedy}
}

// broken is a baseline that a side begins with and a result does not, nil if
// there is none.
func (l *log) broken(result *ledger.Ledger) *read.LogComparer {
	for i, b := range l.baselines {
		if slices.ContainsFunc(l.versions, func(v *version) bool { return b.Baselined(v.ledger) }) && !b.Baselined(result) {
			return &l.baselines[i]
		}
	}
	return nil
}

// meansElse is the failure of an entry that would mean something else where it is
// to stand. A text at the end of a file whose last line is not ended does: with
// an entry behind it, it ends in a line feed.
func (l *log) meansElse(it item) error {
	failure := l.uncopied(fmt.Sprintf("%s of %s would change", ledger.Describe(it.Entry), it.from.Name))
	if it.at == len(it.from.places)-1 && len(ended(it.from.Data, "\n")) > len(it.from.Data) {
		failure.Remedy = "its text ends without a line break at the end of that side's file: write |- instead of | there (>- instead of >), " +
			"end the line and commit it, which changes no entry; then merge again"
	}
	return failure
}

// keepsBaseline demands that nothing was put into what a baseline accepts.
func (l *log) keepsBaseline(out *Resolution) error {
	result, problems := ledger.ReadLog(out.Text, l.limits)
	if result == nil {
		return l.uncopied(problems[0].Message)
	}
	b := l.broken(result.Ledger)
	if b == nil {
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s: an entry would be put among the first %d, which the baseline in .small-gate.yml fixes", l.path, b.BaselineEntries()),
		Remedy: "on the side without the baseline, record the entries again after it, with the current time; " +
			"or have a person accept the merged log with `small-hook baseline`",
	}
}
