package small

import (
	"fmt"
	"strings"
)

// ReconcileTask is the task_id of the entry that makes an interleaving of two
// writers' entries explicit.
const ReconcileTask = "meta/reconcile-merge"

// MetaPrefix begins the task ids of bookkeeping entries.
const MetaPrefix = "meta/"

// evidenceKeys are the fields of which one must be there and not blank: what
// is not evidenced did not happen.
var evidenceKeys = []string{"evidence", "verification", "command", "test", "link", "commit"}

// Entry is what a ledger keeps of one element of the progress list.
type Entry struct {
	// Index counts from 0.
	Index int
	Pos   Pos
	// Digest identifies the entry by content.
	Digest Digest
	// TaskID, Timestamp and ReplayID are the fields of these names where they
	// are strings, else empty.
	TaskID, Timestamp, ReplayID string
	// Evidenced is true if a field counts as evidence.
	Evidenced bool
}

// Ledger is the ordered entries of one progress file. A ledger is never
// changed once built; one that extends another shares its storage.
type Ledger struct {
	Entries []Entry
	heads   []Digest // heads[i] is the head after i+1 entries
	// used is how many elements of the storage are taken, by this ledger or by
	// one that extends it: only the first extension may write behind the end.
	used *int
}

// NewLedger builds the ledger of a list of entry values.
func NewLedger(items []*Value) *Ledger {
	l := &Ledger{
		Entries: make([]Entry, 0, len(items)),
		heads:   make([]Digest, 0, len(items)),
		used:    new(int),
	}
	l.extend(items, 0)
	*l.used = l.Len()
	return l
}

// fork returns a ledger of the same entries that may be extended without
// anybody noticing: in the same storage if it is free, else in its own.
func (l *Ledger) fork() *Ledger {
	n := l.Len()
	if *l.used == n {
		return &Ledger{Entries: l.Entries, heads: l.heads, used: l.used}
	}
	return &Ledger{Entries: l.Entries[:n:n], heads: l.heads[:n:n], used: new(int)}
}

// extend appends entries in place, their positions moved down by lines.
func (l *Ledger) extend(items []*Value, lines int) {
	head := l.Head()
	for _, item := range items {
		e := newEntry(item)
		e.Index = len(l.Entries)
		e.Pos.Line += lines
		l.Entries = append(l.Entries, e)
		head = chain(head, e.Digest)
		l.heads = append(l.heads, head)
	}
}

func newEntry(v *Value) Entry {
	e := Entry{Pos: v.Pos, Digest: EntryDigest(v), Evidenced: Evidenced(v)}
	e.TaskID, _ = v.Get("task_id").Str()
	e.Timestamp, _ = v.Get("timestamp").Str()
	e.ReplayID, _ = v.Get("replayId").Str()
	return e
}

// Evidenced reports whether an entry has a field that counts as evidence:
// a string that is not blank, or a mapping.
func Evidenced(entry *Value) bool {
	for _, key := range evidenceKeys {
		if NotBlank(entry.Get(key)) {
			return true
		}
	}
	return false
}

// NotBlank reports whether a value is a mapping, or a string with something
// but white space in it.
func NotBlank(v *Value) bool {
	if v == nil {
		return false
	}
	return v.Kind == Map || v.Kind == Other && v.Tag == binaryTag && v.Text != "" ||
		v.Kind == String && strings.TrimSpace(v.Text) != ""
}

// Len is the number of entries.
func (l *Ledger) Len() int { return len(l.Entries) }

// Head is the chain value over all entries; two reports kept apart can prove
// with it that one log is a prefix of the other.
func (l *Ledger) Head() Digest { return l.HeadAt(len(l.heads)) }

// HeadAt is the head of the first n entries; n is at most Len.
func (l *Ledger) HeadAt(n int) Digest {
	if n == 0 {
		return emptyHead
	}
	return l.heads[n-1]
}

// Extends reports whether p is a prefix of l (or the same).
func (l *Ledger) Extends(p *Ledger) bool {
	return l.Len() >= p.Len() && l.HeadAt(p.Len()) == p.Head()
}

// LedgerOf reads the ledger of a progress document. The items need not fit the
// schema, but there must be a list of them under "entries".
func LedgerOf(doc *Document) (*Ledger, []Problem) {
	entries := doc.Root.Get("entries")
	if entries == nil {
		return nil, []Problem{{Kind: ProblemSchema, Pos: doc.Root.Pos, Subject: "entries", Message: `the key "entries" is missing`, Hint: "add `entries: []`"}}
	}
	if entries.Kind != List {
		return nil, []Problem{{Kind: ProblemSchema, Pos: entries.Pos, Subject: "entries", Message: fmt.Sprintf(`"entries" is %s; a list is expected`, entries.Kind)}}
	}
	return NewLedger(entries.Items), nil
}
