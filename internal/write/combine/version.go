package combine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Version is one side's version of a log.
type Version struct {
	// Name is the side's name in messages and commands: a branch, or git's name for it. Called, if not empty, replaces it in messages.
	Name, Called string
	// ID is the commit.
	ID string
	// Data is the file; nil if the side has none.
	Data []byte
	// Bases are the side's merge bases with ours.
	Bases []Version
	// Since is the log at the configuration's since commit, if the side contains that commit; else nil.
	Since *Version
	// Rotated is true if the side moved the merge base's entries to an archive, and began the log anew.
	Rotated bool
	// Picked is true if only the side's additions to its base are combined, as in a rebase or a cherry-pick. Unpublished additions are put
	// after existing entries, with later times where needed.
	Picked bool
}

// version is a side's log after parsing.
type version struct {
	*Version
	doc *small.Document
	// written is the log as the file has it; nil if there is no file.
	written *ledger.Log
	// items are the entries that the side contributes, and ledger is the ledger of the items.
	items  []item
	ledger *ledger.Ledger
	// places are the indexes of entries in the file; of equal entries, that of the last one.
	places map[small.Digest]int
	// all are the entries of a configured log's file. byDigest has them by digest, and values has them in full; both are filled when needed.
	all      []item
	byDigest map[small.Digest][]*item
	values   []*small.Value
	// bases are the readable merge bases with ours.
	bases []*version
}

// item is an entry and the place of its text.
type item struct {
	ledger.Entry
	value *small.Value
	from  *version
	index int // index in from's file
	// merged is the merged entry if two versions of a configured log's entry were merged; else nil.
	merged *small.Value
}

// log is a case after parsing.
type log struct {
	Case
	kind Kind
	// comparers compare by the configuration of each side.
	comparers []read.LogComparer
	// versions are ours and then the others.
	versions []*version
	// parsed are all logs parsed so far. A later log is parsed as the continuation of one of them if possible; the first is a merge base.
	parsed []*version
	// bases are the merge bases; baseDigests has the digests of all their entries.
	bases       []*version
	baseDigests map[small.Digest]bool
	// retimed has the digests of entries that got later times.
	retimed map[small.Digest]bool
}

func (c Case) parseSides() (*log, error) {
	l := &log{Case: c, kind: KindOf(c.Comparer.Policy, c.Path), comparers: append([]read.LogComparer{c.Comparer}, c.Others...), baseDigests: map[small.Digest]bool{}, retimed: map[small.Digest]bool{}}
	bases := make([][]*version, len(c.Theirs))
	for i, theirs := range c.Theirs {
		for j := range theirs.Bases {
			if base, err := l.parse(&theirs.Bases[j]); err == nil { // an unreadable base has no entries to keep
				bases[i] = append(bases[i], base)
			}
		}
	}
	ours, err := l.parse(&c.Ours)
	if err != nil {
		return nil, err
	}
	l.versions = []*version{ours}
	for i := range c.Theirs {
		theirs, err := l.parse(&c.Theirs[i])
		if err != nil {
			return nil, err
		}
		theirs.bases = bases[i]
		if err := l.compareWithBases(theirs, ours, bases[i]); err != nil {
			return nil, err
		}
		switch {
		case theirs.Picked && l.kind.Configured():
			theirs = l.addAfterOurs(theirs, ours, bases[i])
		case theirs.Picked:
			if theirs, err = l.putAfterOurs(theirs, ours); err != nil {
				return nil, err
			}
		}
		l.versions = append(l.versions, theirs)
	}
	return l, nil
}

// parse parses one version. A side without a log has no items.
func (l *log) parse(v *Version) (*version, error) {
	out := &version{Version: v, ledger: ledger.NewLedger(nil)}
	if v.Data == nil {
		return out, nil
	}
	if l.kind.Configured() {
		return out, l.parseConfigured(out)
	}
	doc, parsed, problems := l.readDocument(v.Data)
	if parsed == nil {
		return nil, l.errUnreadable(v, problems[0])
	}
	out.doc, out.written, out.ledger = doc, parsed, parsed.Ledger
	l.parsed = append(l.parsed, out)
	out.places = make(map[small.Digest]int, parsed.Len())
	for i, value := range doc.Root.Get("entries").Items {
		out.items = append(out.items, item{Entry: parsed.Entries[i], value: value, from: out, index: i})
		out.places[parsed.Entries[i].Digest] = i
	}
	return out, nil
}

func (l *log) parseConfigured(v *version) error {
	parsed, problems := l.kind.Read(v.Data, l.Limits)
	if parsed == nil {
		return l.errUnreadable(v.Version, problems[0])
	}
	v.written, v.ledger, v.places = parsed, parsed.Ledger, make(map[small.Digest]int, parsed.Len())
	for i, e := range parsed.Entries {
		v.items = append(v.items, item{Entry: e, from: v, index: i})
		v.places[e.Digest] = i
	}
	v.all = slices.Clone(v.items)
	return nil
}

func (v *Version) displayName() string { return cmp.Or(v.Called, v.Name) }

func (l *log) errUnreadable(v *Version, p small.Problem) *failure.Error {
	return l.errFixSide(v, fmt.Sprintf("%s of %s cannot be read as a log: line %d: %s", l.Path, v.displayName(), max(p.Pos.Line, 1), p.Message))
}

// addAfterOurs returns a picked side of a configured log: ours, and then the side's additions to its bases that ours lacks.
func (l *log) addAfterOurs(v, ours *version, bases []*version) *version {
	known := map[small.Digest]int{}
	for _, b := range bases {
		count := map[small.Digest]int{}
		for _, it := range b.items {
			count[l.classOf(it)]++
			known[l.classOf(it)] = max(known[l.classOf(it)], count[l.classOf(it)])
		}
	}
	there := map[small.Digest]int{}
	for _, it := range ours.items {
		there[l.classOf(it)]++
	}
	for class, n := range known {
		there[class] -= n
	}
	own := itemsWhere(v.items, func(it item) bool { // of equal entries, the first ones are the bases', the next ones ours
		class := l.classOf(it)
		if known[class] > 0 {
			known[class]--
			return false
		}
		there[class]--
		return there[class] < 0
	})
	out := *v
	out.items = slices.Concat(ours.items, own)
	out.ledger = ledgerOf(out.items)
	return &out
}

// readDocument reads a text as a log, if possible as the continuation of a parsed one.
func (l *log) readDocument(data []byte) (*small.Document, *ledger.Log, []small.Problem) {
	for _, v := range l.parsed {
		if doc := v.doc.Extend(v.Data, data, l.Limits); doc != nil {
			return doc, v.written.LogOfExtended(doc, data), nil
		}
	}
	doc, problems := small.Parse(data, l.Limits)
	if doc == nil {
		return nil, nil, problems
	}
	log, problems := ledger.LogOf(doc, data)
	return doc, log, problems
}

func ledgersOf(versions []*version) (out []*ledger.Ledger) {
	for _, v := range versions {
		out = append(out, v.ledger)
	}
	return out
}

func ledgerOf(items []item) *ledger.Ledger {
	entries := make([]ledger.Entry, len(items))
	for i, it := range items {
		entries[i] = it.Entry
	}
	return ledger.OfEntries(entries)
}

// compareWithBases returns an error unless both sides kept the entries of their merge bases, and removes from a side the base's entries that
// the other side lacks: from a picked side, and from a side that forked before the other side's baseline, since commit, rotation or approved
// rewrite.
func (l *log) compareWithBases(theirs, ours *version, bases []*version) error {
	for _, base := range bases {
		l.bases = append(l.bases, base)
		for _, it := range base.items {
			l.baseDigests[it.Digest] = true
		}
		// A picked commit that only removes entries, as a revert does, is no error: the log keeps the entries.
		if !theirs.Picked || theirs.Data == nil || len(ledger.Only(theirs.ledger, base.ledger, l.Comparer.Equivalence)) > 0 {
			if err := l.checkKept(base, theirs, ours); err != nil {
				return err
			}
		}
		if !theirs.Picked || ours.Data == nil {
			if err := l.checkKept(base, ours, theirs); err != nil {
				return err
			}
		}
		oursOld := !l.beginsWithBaseline(ours) && l.beginsWithBaseline(theirs) || l.wasRewritten(base, theirs) || theirs.isAheadOf(ours)
		theirsOld := l.beginsWithBaseline(ours) && !l.beginsWithBaseline(theirs) || l.wasRewritten(base, ours) || ours.isAheadOf(theirs)
		if theirs.Picked || theirsOld {
			l.leaveOutRemoved(theirs, base, ours)
		}
		if oursOld && !theirs.Picked {
			l.leaveOutRemoved(ours, base, theirs)
		}
	}
	return nil
}

// beginsWithBaseline reports whether a log begins with the baseline of some side's configuration.
func (l *log) beginsWithBaseline(v *version) bool {
	return slices.ContainsFunc(l.comparers, func(c read.LogComparer) bool { return c.BeginsWithBaseline(v.ledger) })
}

// wasRewritten reports whether a side of a configured log lacks entries of a base, as an approved rewrite of the whole log allows.
func (l *log) wasRewritten(base, side *version) bool {
	return len(l.Comparer.Rewrites) > 0 && side.Data != nil && len(ledger.Only(base.ledger, side.ledger, l.Comparer.Equivalence)) > 0
}

// applyRewrite replaces the items of v by those of the other side's approved rewrite and the entries of v that the rewrite does not affect. It returns
// false if the other side has done no rewrite that v has not, or if the base does not show what the rewrite started from.
func (l *log) applyRewrite(v, base, other *version) bool {
	equal := l.Comparer.WithBeforeFrom(base.ledger)
	equal.Older = true
	rewritten := equal.ApplyRewrite(v.ledger, other.ledger)
	if rewritten == v.ledger {
		return false
	}
	byDigest := map[small.Digest][]item{}
	for _, it := range slices.Concat(other.items, v.items) {
		byDigest[it.Digest] = append(byDigest[it.Digest], it)
	}
	v.items = nil
	for _, e := range rewritten.Entries {
		v.items = append(v.items, byDigest[e.Digest][0])
	}
	v.ledger = ledgerOf(v.items)
	return true
}

// leaveOutRemoved leaves out of v what the other side removed from the base: by an approved rewrite, which a picked commit does not bring along, or
// otherwise.
func (l *log) leaveOutRemoved(v, base, other *version) {
	if v.Picked || !l.applyRewrite(v, base, other) {
		l.dropRemovedByOther(v, base, other)
	}
}

// dropRemovedByOther removes from v the base's entries that the other side lacks.
func (l *log) dropRemovedByOther(v, base, other *version) {
	before, there := l.classesOf(base.items), l.classesOf(other.items)
	v.items = slices.DeleteFunc(v.items, func(it item) bool { return before[l.classOf(it)] && !there[l.classOf(it)] })
	v.ledger = ledgerOf(v.items)
}

// isAheadOf reports whether a side rotated the log, or contains the configuration's since commit, and another side does not.
func (v *version) isAheadOf(other *version) bool {
	return !v.Picked && (v.Since != nil && other.Since == nil || v.Rotated && !other.Rotated)
}

// checkKept returns an error unless a side kept the entries of a base. Changes before a baseline are accepted. If the other side forked before
// the since commit, the log at that commit is the base. After a rotation, the archive has the entries.
func (l *log) checkKept(base, side, other *version) error {
	if side.Rotated && !side.Picked {
		return nil
	}
	if side.isAheadOf(other) {
		since, err := l.parse(side.Since)
		if err != nil {
			return nil //nolint:nilerr // an unreadable log has no entries to keep
		}
		base = since
	}
	if base.ledger.Len() == 0 || l.Comparer.Keeps(base.ledger, side.ledger) {
		return nil
	}
	if side.Data == nil {
		return l.errFixSide(side.Version, fmt.Sprintf("%s deleted %s", side.displayName(), l.Path))
	}
	if l.beginsWithBaseline(side) && !l.beginsWithBaseline(base) {
		return nil
	}
	what := "has the entries in another order than the merge base"
	if lost := ledger.Only(base.ledger, side.ledger, l.Comparer.Equivalence); len(lost) > 0 {
		what = "changed or lost entries of the merge base: " + ledger.DescribeAll(lost)
	}
	return l.errFixSide(side.Version, fmt.Sprintf("%s: %s %s", l.Path, side.displayName(), what))
}

// ErrUndo is in the chain of the failure if git's operation must be undone before the remedy is followed.
var ErrUndo = errors.New("the operation has to be undone first")

// ErrPickedEdit is in the chain of the failure if a picked commit changes old entries. Its remedy is to put back our log, without that commit's changes.
var ErrPickedEdit = errors.New("a picked commit changes old entries")

// errFixSide returns the failure of a side that lost or changed entries. A picked commit's changes to old entries can be left out, if ours has the log.
func (l *log) errFixSide(side *Version, message string) *failure.Error {
	name := ""
	if side.ID != l.Ours.ID {
		name = " " + wording.ShellWord(side.Name)
	}
	if side.Picked && l.Ours.Data != nil {
		return &failure.Error{
			Message: message,
			Remedy: "a log keeps what was recorded: `git restore --source=HEAD --staged --worktree -- " + wording.TopPath(l.Path) + "`; " +
				"then `small-hook reconcile`; then append an entry with the correction, and the new entries of that commit again",
			Err: ErrPickedEdit,
		}
	}
	return &failure.Error{Message: message, Remedy: "fix the log on that branch first, as `small-hook audit" + name + "` says", Err: ErrUndo}
}

// bringsBackRemoved reports whether a merged log has entries that an approved rewrite removed on a side.
func (l *log) bringsBackRemoved(merged *ledger.Ledger) bool {
	return slices.ContainsFunc(l.Comparer.Rewrites, func(x *ledger.Rewrite) bool {
		var sides []*ledger.Ledger
		done := false
		for _, v := range l.versions {
			side := v.ledger
			if l.Comparer.DoneOrFollowed(x, side) {
				done = true
			} else {
				side = x.WithoutBefore(side)
			}
			sides = append(sides, side)
		}
		return done && len(x.Returned(merged, sides)) > 0
	})
}
