package reconcile

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Version is one side's version of a log.
type Version struct {
	// Name is what people call the side: a branch, or what git calls it.
	Name string
	// ID is the commit.
	ID string
	// Data is the file; nil if the side has none.
	Data []byte
	// Bases are the versions from which this side and ours parted. An element is
	// nil where there was no log.
	Bases [][]byte
	// Parted are the commits of these versions.
	Parted []string
	// Picked is true if only what the side has beyond its base is brought, as a
	// rebase or a cherry-pick does.
	Picked bool
}

// parting is the commit of a base, in words where it is not known.
func (v *Version) parting(i int) string {
	if i < len(v.Parted) {
		return v.Parted[i]
	}
	return "REV (the merge base)"
}

// version is a side's log as it was read.
type version struct {
	*Version
	doc    *small.Document
	ledger *ledger.Ledger
	// items are the entries that the side brings.
	items []item
	// places say where in the file an entry stands.
	places map[small.Digest]int
}

// item is one entry with the place of its text.
type item struct {
	ledger.Entry
	value *small.Value
	from  *version
	at    int // in from's list
}

// log is one log with all its sides.
type log struct {
	path   string
	sides  read.LogComparer
	limits small.Limits
	// baselines are those of every side's configuration.
	baselines []read.LogComparer
	// versions are ours and the others.
	versions []*version
	// bases are the versions from which the sides parted; base holds all their
	// entries.
	bases []*version
	base  map[small.Digest]bool
}

// read parses one side's version. A side without a log has no items.
func (l *log) read(v *Version) (*version, error) {
	out := &version{Version: v, ledger: ledger.NewLedger(nil)}
	if v.Data == nil {
		return out, nil
	}
	doc, problems := small.Parse(v.Data, l.limits)
	var read *ledger.Ledger
	if doc != nil {
		read, problems = ledger.LedgerOf(doc)
	}
	if read == nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s of %s cannot be read as a log: line %d: %s", l.path, v.Name, max(problems[0].Pos.Line, 1), problems[0].Message),
			Remedy:  "correct the log on that side and commit it, then merge again",
		}
	}
	out.doc, out.ledger = doc, read
	out.places = make(map[small.Digest]int, read.Len())
	for i, value := range doc.Root.Get("entries").Items {
		out.items = append(out.items, item{Entry: read.Entries[i], value: value, from: out, at: i})
		out.places[read.Entries[i].Digest] = i
	}
	return out, nil
}

// ledgerOf is the ledger of some items.
func ledgerOf(items []item) *ledger.Ledger {
	values := make([]*small.Value, len(items))
	for i, it := range items {
		values[i] = it.value
	}
	return ledger.NewLedger(values)
}

// parted judges what a side did to the entries that were there when it and ours
// parted, and keeps of a picked side only what it brings.
func (l *log) parted(theirs, ours *version) error {
	for i, data := range theirs.Bases {
		base, err := l.read(&Version{Name: "the merge base", Data: data, ID: theirs.parting(i)})
		if err != nil {
			continue // a log that nobody could read is no entry of anybody
		}
		l.bases = append(l.bases, base)
		for _, it := range base.items {
			l.base[it.Digest] = true
		}
		sides := []*version{theirs, ours}
		if theirs.Picked && ours.Data != nil {
			sides = sides[:1]
		}
		for _, side := range sides {
			if err := l.unchanged(base, side); err != nil {
				return err
			}
		}
		ourPast, theirPast := !l.baselined(ours), !l.baselined(theirs)
		if theirs.Picked || theirPast && !ourPast {
			theirs.keepOwn(base, ours, l.sides)
		}
		if ourPast && !theirPast && !theirs.Picked {
			ours.keepOwn(base, theirs, l.sides)
		}
	}
	return nil
}

// baselined reports whether a log begins with a baseline of some side's.
func (l *log) baselined(v *version) bool {
	return slices.ContainsFunc(l.baselines, func(s read.LogComparer) bool { return s.Baselined(v.ledger) })
}

// keepOwn leaves out what a side did not bring itself and the other lacks: of a
// picked commit, and of a side that parted before the baseline with which the
// other begins.
func (v *version) keepOwn(base, ours *version, sides read.LogComparer) {
	has := func(in *version) map[small.Digest]bool {
		out := map[small.Digest]bool{}
		for _, e := range in.ledger.Entries {
			out[sides.Class(e.Digest)] = true
		}
		return out
	}
	before, here := has(base), has(ours)
	var own []item
	for _, it := range v.items {
		if class := sides.Class(it.Digest); here[class] || !before[class] {
			own = append(own, it)
		}
	}
	v.items = own
	v.ledger = ledgerOf(own)
}

// unchanged demands that a side kept the entries of a base. What led to a
// baseline is accepted as it is.
func (l *log) unchanged(base, side *version) error {
	if base.ledger.Len() == 0 || l.sides.Keeps(base.ledger, side.ledger) {
		return nil
	}
	if side.Data == nil {
		return &failure.Error{
			Message: fmt.Sprintf("%s deleted %s", side.Name, l.path),
			Remedy:  fmt.Sprintf("restore the log on that side (`git restore --source=%s --staged --worktree -- %s`) and commit it, then merge again", base.ID, wording.ShellWord(l.path)),
		}
	}
	if l.baselined(side) && !l.baselined(base) {
		return nil
	}
	what := "has the entries in another order than the merge base"
	if lost := l.sides.Only(base.ledger, side.ledger); len(lost) > 0 {
		what = "changed or lost entries of the merge base: " + ledger.DescribeAll(lost)
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s: %s %s", l.path, side.Name, what),
		Remedy: "restore the entries on that side, append an entry with the correction, and merge again; " +
			"or have a person excuse the edit: `small-hook audit COMMIT` names it, `small-hook waive FINGERPRINT --reason WHY` excuses it",
	}
}
