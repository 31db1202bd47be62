package combine

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Case is a log and the sides to combine.
type Case struct {
	// Path is the log's path, relative to the root of the tree.
	Path string
	// Ours is the checked-out side.
	Ours   Version
	Theirs []Version
	Now    time.Time
	// Comparer compares by the trusted configuration, Others by those of the other sides. The result keeps the baselines of all of them.
	Comparer read.LogComparer
	Others   []read.LogComparer
	Limits   small.Limits
	// TheirsFirst puts the others' additions before ours, in a configured log.
	TheirsFirst bool
	// TargetKnown is true if the side that comes first is known to be the target's. Then a resolution must begin with its log.
	TargetKnown bool
	// TargetLacks is true if the target is known and has no file at the path.
	TargetLacks bool
	// Also are entries to append. They get their times here.
	Also []NewEntry
	// Unmarked leaves out the reconcile entry, which the caller adds.
	Unmarked bool
	// Published returns which of the entries are in a remote-tracking branch's log: these keep their text and time. It is called only if an
	// entry would change; nil means that no entry is published.
	Published func(entries []ledger.Entry) (map[small.Digest]bool, error)
}

// Resolution is a log that continues every side.
type Resolution struct {
	Text    []byte
	Entries int
	// Added is true if the log has a new reconcile entry. It needs none if one side continues the others.
	Added bool
	// Inserted is true if the log has new entries before old ones of ours.
	Inserted bool
	// Brought has, for each side, the number of entries that only that side has. Ours is first.
	Brought []int
}

// Resolve combines the sides of a log. The error is a *failure.Error that says what stops it.
func (c Case) Resolve() (*Resolution, error) {
	l, err := c.parseSides()
	if err != nil {
		return nil, err
	}
	items := l.versions[0].items
	for _, side := range l.versions[1:] {
		a, b := l.applyWaivedEdits(items, side.items), l.applyWaivedEdits(side.items, items)
		before, after := ledgerOf(a), ledgerOf(b)
		switch {
		case l.Comparer.Accepts(after, before):
			items = a
		case l.Comparer.Accepts(before, after):
			items = b
		default:
			if items, err = l.combineLists(a, b); err != nil {
				return nil, err
			}
		}
	}
	out, err := l.makeResolution(items)
	if err == nil {
		err = l.checkResultTimes(items, ledgerOf(items))
	}
	for _, e := range c.Also {
		if err == nil {
			out.Text, _, err = Append(c.Path, out.Text, e, c.Now, c.Limits)
			out.Entries++
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// combineLists combines two sides' entries of which neither continues the other: by time or, in a configured log, one side after the other.
func (l *log) combineLists(a, b []item) ([]item, error) {
	switch {
	case !l.kind.Configured():
		return l.mergeByTime(a, b)
	case l.TheirsFirst:
		return l.appendMissing(b, a)
	}
	return l.appendMissing(a, b)
}

// Insert inserts into ours, by their times, the entries of another log, from, that are in entries. The other log may have conflict markers.
func (c Case) Insert(from Version, entries map[small.Digest]bool) (*Resolution, error) {
	l, err := c.parseSides()
	if err != nil {
		return nil, err
	}
	from.Picked, from.Data = true, removeMarkers(from.Data)
	v, err := l.parse(&from)
	if err != nil {
		return nil, err
	}
	ours, added := l.versions[0].items, itemsWhere(v.items, func(it item) bool { return entries[it.Digest] })
	sortByTime(added)
	// The part of ours before the first of them keeps its order.
	before := 0
	for i, it := range ours {
		if len(computeNewTimes(added[:1], []item{it})) == 0 {
			before = i + 1
		}
	}
	v.items = slices.Concat(ours[:before], added)
	v.ledger = ledgerOf(v.items)
	l.versions = append(l.versions, v)
	items, err := l.mergeByTime(ours, v.items)
	if err != nil {
		return nil, err
	}
	return l.makeResolution(items)
}

// makeResolution writes a list of entries as a log that the gate accepts, or returns an error.
func (l *log) makeResolution(items []item) (*Resolution, error) {
	if l.kind.Configured() {
		if err := l.settleVersions(items); err != nil {
			return nil, err
		}
	}
	result := ledgerOf(items)
	out := &Resolution{Entries: len(items), Brought: l.countBrought(items)}
	out.Inserted = ledger.Relate(l.versions[0].ledger, result, l.Comparer.Equivalence).Relation == ledger.Interleaved
	if err := l.writeText(out, items, result); err != nil {
		return nil, err
	}
	if b := l.findLostBaseline(result); b != nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s: an entry would be put among the first %d, which the baseline in .small-gate.yml fixes", l.Path, b.Entries),
			Remedy: "on the side without the baseline, record the entries again after it, with the current time; " +
				"or have a person accept the merged log with `small-hook baseline`",
		}
	}
	return out, nil
}

// LogAsResolution returns an existing log as a resolution, done, if it continues every side. Otherwise done is nil, and extra are the log's entries
// that no side has, apart from reconcile entries.
func (c Case) LogAsResolution(log *ledger.Log, text []byte) (done *Resolution, extra []ledger.Entry, err error) {
	l, err := c.parseSides()
	if err != nil {
		return nil, nil, err
	}
	if l.continuesAllSides(log.Ledger) && l.beginsWithTarget(log.Ledger) && l.findLostBaseline(log.Ledger) == nil && !l.bringsBackRemoved(log.Ledger) {
		items := make([]item, log.Len())
		for i, e := range log.Entries {
			items[i] = item{Entry: e}
		}
		return &Resolution{
			Text: text, Entries: log.Len(), Brought: l.countBrought(items),
			Added: slices.ContainsFunc(log.Entries, func(e ledger.Entry) bool { return e.Reconciles && !l.isKnown(e) }),
		}, nil, nil
	}
	return nil, slices.DeleteFunc(slices.Clone(log.Entries), func(e ledger.Entry) bool {
		return e.Reconciles || l.isKnown(e)
	}), nil
}

// OursAsResolution returns our log as the resolution, without anything from the other sides.
func (c Case) OursAsResolution() (*Resolution, error) {
	ours, problems := KindOf(c.Comparer.Policy, c.Path).Read(c.Ours.Data, c.Limits)
	if ours == nil {
		return nil, (&log{Case: c}).errUnreadable(&c.Ours, problems[0])
	}
	return &Resolution{Text: c.Ours.Data, Entries: ours.Len(), Brought: make([]int, len(c.Theirs)+1)}, nil
}

// isKnown reports whether a side or a merge base has an entry.
func (l *log) isKnown(e ledger.Entry) bool {
	return l.baseDigests[e.Digest] || l.retimed[e.Digest] || slices.ContainsFunc(l.versions, func(v *version) bool {
		_, known := v.places[e.Digest]
		return known
	})
}

// timestampOrder is the rule that rejects a log whose times do not increase.
const timestampOrder = "lint/timestamp-order"

// mergeBaseText returns the merge base as a command's argument: its id or, if there is not exactly one, a command that prints it.
func (l *log) mergeBaseText() string {
	for _, v := range l.versions {
		if len(v.Bases) == 1 && !v.Picked {
			return v.Bases[0].ID
		}
	}
	return "$(git merge-base HEAD " + wording.ShellWord(l.Theirs[0].Name) + ")"
}

// countBrought counts, for each side, the items that only this side has.
func (l *log) countBrought(items []item) []int {
	out := make([]int, len(l.versions))
	has := make([]map[small.Digest]bool, len(l.versions))
	for i, v := range l.versions {
		has[i] = l.classesOf(v.items)
	}
	for _, it := range items {
		only := -1
		for i := range has {
			switch {
			case !has[i][l.classOf(it)]:
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

// writeText sets the text of a resolution: a side's own text if it has exactly these items, else the assembled texts of the sides. It adds a
// reconcile entry if the gate would not accept the log without one.
func (l *log) writeText(out *Resolution, items []item, result *ledger.Ledger) error {
	if l.kind.Configured() {
		return l.writeConfigured(out, items, result)
	}
	accepted := l.continuesAllSides(result)
	own := l.findVerbatim(items)
	if accepted && own != nil && (own == l.versions[0] || l.hasBaseText(l.versions[0])) {
		out.Text = own.Data
		return nil
	}
	var entry NewEntry
	if !accepted && !l.Unmarked {
		entry = l.makeReconcileEntry(result, out.Brought)
	}
	var err error
	for _, anew := range []bool{false, true} {
		if out.Text, err = l.compose(items, entry, anew); err == nil {
			want := len(items)
			if entry != nil {
				want++
			}
			err = l.checkText(out.Text, items, want, entry != nil)
		}
		if err == nil {
			if out.Added = entry != nil; out.Added {
				out.Entries++
			}
			return nil
		}
	}
	if accepted && own != nil {
		out.Text = own.Data
		return nil
	}
	return err
}

// writeConfigured sets the text of a configured log: the text of the one side that changed it, else the assembled texts of the sides.
func (l *log) writeConfigured(out *Resolution, items []item, result *ledger.Ledger) error {
	if own := l.findOnlyChanged(items); own != nil && l.continuesAllSides(result) {
		out.Text = own.Data
		return nil
	}
	text, count, err := l.composeConfigured(items)
	if err == nil {
		err = l.checkText(text, items, count, false)
	}
	if err == nil {
		out.Text, out.Entries = text, count
	}
	return err
}

// continuesAllSides reports whether the gate accepts a ledger as the next version of each side's.
func (l *log) continuesAllSides(result *ledger.Ledger) bool {
	if l.kind.Configured() {
		if l.kind.stanza.Unordered() {
			return !slices.ContainsFunc(l.versions, func(v *version) bool { return !l.Comparer.Keeps(v.ledger, result) })
		}
		return HoldsAll(ledgersOf(l.versions), result, l.Comparer.Keeps)
	}
	return !slices.ContainsFunc(l.versions, func(v *version) bool {
		if v.Picked { // the new commit does not have this side as a parent
			return !l.Comparer.Keeps(v.ledger, result)
		}
		return !l.Comparer.Accepts(v.ledger, result)
	})
}

// beginsWithTarget reports whether a merged log begins with the target's log. It is true if the target is not known or order does not count.
func (l *log) beginsWithTarget(merged *ledger.Ledger) bool {
	if !l.TargetKnown || !l.kind.Configured() || l.kind.stanza.Unordered() || len(l.versions) != 2 {
		return true
	}
	target, other := l.versions[0].ledger, l.versions[1].ledger
	if l.TheirsFirst {
		target, other = other, target
	}
	return BeginsWith(target, other, merged)
}

// findVerbatim returns a side whose file has exactly these entries; nil if there is none. It prefers a side that changed the merge bases' text.
func (l *log) findVerbatim(items []item) *version {
	var found *version
	for _, v := range l.versions {
		same := v.written != nil && slices.EqualFunc(v.written.Entries, items, func(e ledger.Entry, it item) bool { return e.Digest == it.Digest })
		if same && !l.hasBaseText(v) {
			return v
		}
		if same && found == nil {
			found = v
		}
	}
	return found
}

// hasBaseText reports whether a side's text is that of a merge base.
func (l *log) hasBaseText(v *version) bool {
	return slices.ContainsFunc(l.versions, func(w *version) bool {
		return slices.ContainsFunc(w.Bases, func(base Version) bool { return bytes.Equal(base.Data, v.Data) })
	})
}

// checkText returns an error unless an assembled text is within the limit, has the items unchanged, want entries in all, and the gate accepts it.
func (l *log) checkText(text []byte, items []item, want int, added bool) error {
	if err := checkSize(wording.Printable(l.Path)+": the sides cannot be combined: ", text, l.Limits); err != nil {
		return err
	}
	result, problems := l.readResult(text)
	if result == nil {
		return l.errCannotCopy(fmt.Sprintf("line %d of the result: %s", max(problems[0].Pos.Line, 1), problems[0].Message))
	}
	if result.Len() != want {
		return l.errCannotCopy(fmt.Sprintf("the result would have %d entries, not %d", result.Len(), want))
	}
	for i, it := range items {
		got := result.Entries[i]
		if got.Digest != it.Digest || l.kind.Configured() && it.merged == nil && got.Whole != it.Whole {
			return l.errCannotCopy(fmt.Sprintf("%s of %s would change", ledger.Describe(it.Entry), it.from.displayName()))
		}
	}
	if added && (!result.Entries[want-1].Reconciles || !result.Entries[want-1].Evidenced) {
		return l.errCannotCopy("the new entry would not be read as an entry for meta/reconcile-merge")
	}
	if !l.Unmarked && !l.continuesAllSides(result.Ledger) {
		return l.errCannotCopy("the result would not have every entry of every side in order")
	}
	return nil
}

func (l *log) readResult(text []byte) (*ledger.Log, []small.Problem) {
	if l.kind.Configured() {
		return l.kind.Read(text, l.Limits)
	}
	_, result, problems := l.readDocument(text)
	return result, problems
}

// findLostBaseline returns a baseline with which a side begins, and the result does not; nil if there is none.
func (l *log) findLostBaseline(result *ledger.Ledger) *policy.Baseline {
	for _, c := range l.comparers {
		if slices.ContainsFunc(l.versions, func(v *version) bool { return c.BeginsWithBaseline(v.ledger) }) && !c.BeginsWithBaseline(result) {
			return c.Baseline
		}
	}
	return nil
}
