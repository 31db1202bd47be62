package ledger

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/small-gate/small-gate/internal/small"
)

// ReconcileTask is the task_id of the entry that makes an interleaving explicit: new entries between older ones.
const ReconcileTask = "meta/reconcile-merge"

// MetaPrefix begins the task ids of bookkeeping entries.
const MetaPrefix = "meta/"

// evidenceKeys are the fields that count as evidence. An entry needs one of them that is not blank.
var evidenceKeys = []string{"evidence", "verification", "command", "test", "link", "commit"}

// Entry is what a ledger keeps of one entry of a log.
type Entry struct {
	// Index counts from 0.
	Index int
	Pos   small.Pos
	// Two entries are equal if their Digests are. If the log compares only part of an entry, Whole is the digest of all of it; otherwise
	// Whole is zero or equal to Digest.
	Digest, Whole small.Digest
	// TaskID, Timestamp, ReplayID, Status, AgentID and Commit are the fields of these names, empty if they are not strings. TaskID,
	// Timestamp and Status are trimmed, as the protocol compares them; the digests cover them as written.
	TaskID, Timestamp, ReplayID, Status, AgentID, Commit string
	// Noun is what messages call the entry, such as [Line]; empty in the protocol's log.
	Noun string
	// Reconciles is true if the task_id is exactly ReconcileTask.
	Reconciles bool
	// Suspects are texts that may not survive a rewrite of the file.
	Suspects []small.Suspect
	// Credentials are the first maxCredentials in the entry's keys and values.
	Credentials []Credential
	// Evidenced is true if the entry has evidence, Meaningful if its evidence also has visible text: an empty mapping is evidence without
	// text.
	Evidenced, Meaningful bool
	// Sum hashes the string fields except the timestamp, with a seed that each process chooses anew. Entries with equal strings have equal
	// sums.
	Sum uint64
}

var sumSeed = maphash.MakeSeed()

// Ledger holds the entries of one version of a log, in order. It never changes once built, so goroutines may share it. A ledger that extends
// another shares its storage.
type Ledger struct {
	Entries []Entry
	heads   []small.Digest // heads[i] is the head after i+1 entries
	// used counts the entries in the storage. Only a ledger that has all of them is extended in place; otherwise its entries are copied.
	used *atomic.Int64
}

// NewLedger builds a ledger from a list of entries.
func NewLedger(items []*small.Value) *Ledger { return new(Ledger).withItems(items, 0) }

// OfEntries builds a ledger from entries of other ledgers, and numbers them anew.
func OfEntries(entries []Entry) *Ledger { return new(Ledger).withEntries(slices.Clone(entries)) }

// withItems returns l with items appended, whose line numbers are raised by lines.
func (l *Ledger) withItems(items []*small.Value, lines int) *Ledger {
	entries := make([]Entry, len(items))
	var digests small.Digester
	for i, item := range items {
		e := newEntry(item)
		e.Digest = digests.EntryDigest(item)
		e.Pos.Line += lines
		for i := range e.Suspects {
			e.Suspects[i].Pos.Line += lines
		}
		for i := range e.Credentials {
			e.Credentials[i].Pos.Line += lines
		}
		entries[i] = e
	}
	return l.withEntries(entries)
}

// withEntries returns l with entries appended, and may keep that slice. It appends in place if no ledger extends l yet.
func (l *Ledger) withEntries(entries []Entry) *Ledger {
	n := l.Len()
	all := n + len(entries)
	longer := &Ledger{Entries: l.Entries, heads: l.heads, used: l.used}
	if l.used == nil || !l.used.CompareAndSwap(int64(n), int64(all)) {
		longer = &Ledger{Entries: l.Entries[:n:n], heads: l.heads[:n:n], used: new(atomic.Int64)}
		longer.used.Store(int64(all))
	}
	if n > 0 {
		entries = append(longer.Entries, entries...)
	}
	longer.Entries, longer.heads = entries, slices.Grow(longer.heads, all-n)
	head := l.Head()
	for i := n; i < all; i++ {
		e := &longer.Entries[i]
		e.Index = i
		head = nextHead(head, e.WholeDigest())
		longer.heads = append(longer.heads, head)
	}
	return longer
}

// WholeDigest returns the digest of all of the entry, of which the ledger's head is made, even if the log compares only a part.
func (e *Entry) WholeDigest() small.Digest {
	if e.Whole != (small.Digest{}) {
		return e.Whole
	}
	return e.Digest
}

func newEntry(v *small.Value) Entry {
	e := Entry{Pos: v.Pos, Evidenced: Evidenced(v), Meaningful: hasVisibleEvidence(v), Suspects: small.EntrySuspects(v), Credentials: credentialsOf(v)}
	task, _ := v.Get("task_id").Str()
	e.Reconciles = task == ReconcileTask
	for _, f := range v.Fields {
		if f.Value.Kind == small.String && f.Key != "timestamp" {
			e.Sum += maphash.String(sumSeed, f.Value.Text)
		}
	}
	// Without cloning, these would keep the whole text in memory as long as the ledger.
	e.TaskID = strings.Clone(strings.TrimSpace(task))
	e.Timestamp = strings.Clone(strings.TrimSpace(textOfField("timestamp")(v)))
	e.ReplayID = strings.Clone(textOfField("replayId")(v))
	e.Status = strings.Clone(strings.TrimSpace(textOfField("status")(v)))
	e.AgentID = strings.Clone(textOfField("agent_id")(v))
	e.Commit = strings.Clone(textOfField("commit")(v))
	return e
}

// TextBytes estimates how many bytes of memory an entry's texts take.
func (e *Entry) TextBytes() int {
	size := len(e.TaskID) + len(e.Timestamp) + len(e.ReplayID) + len(e.Status) + len(e.AgentID) + len(e.Commit)
	for i := range e.Suspects {
		size += e.Suspects[i].Bytes()
	}
	for i := range e.Credentials {
		const itself = 80
		size += itself + len(e.Credentials[i].Field)
	}
	return size
}

// Evidenced reports whether an entry has evidence: a string that is not blank, or a mapping.
func Evidenced(entry *small.Value) bool {
	for _, key := range evidenceKeys {
		if small.NotBlank(entry.Get(key)) {
			return true
		}
	}
	return false
}

// hasVisibleEvidence reports whether an entry's evidence has text that people can see.
func hasVisibleEvidence(entry *small.Value) bool {
	for _, key := range evidenceKeys {
		if v := entry.Get(key); small.NotBlank(v) && hasVisibleText(v) {
			return true
		}
	}
	return false
}

func hasVisibleText(v *small.Value) bool {
	switch v.Kind {
	case small.Map:
		return slices.ContainsFunc(v.Fields, func(f small.Field) bool { return hasVisibleText(f.Value) })
	case small.List:
		return slices.ContainsFunc(v.Items, hasVisibleText)
	case small.Null:
		return false
	}
	return strings.ContainsFunc(v.Text, isVisible)
}

// isVisible reports whether people can see a character. They cannot see joiners, fillers, variation selectors and the blank Braille pattern,
// although Unicode calls these printable.
func isVisible(r rune) bool {
	switch {
	case r == ' ', r == '\u034f', r == '\u115f', r == '\u1160', r == '\u2800', r == '\u3164', r == '\uffa0', r >= '\ufe00' && r <= '\ufe0f':
		return false
	}
	return unicode.IsPrint(r)
}

// isConfigured reports whether the entries are those of a configured log, not the protocol's or a job's switches. No field says which two of
// them are versions of one, and none of them can make an insertion explicit.
func (l *Ledger) isConfigured() bool {
	return l.Len() > 0 && l.Entries[0].Noun != "" && l.Entries[0].Noun != Switch
}

// Len returns the number of entries.
func (l *Ledger) Len() int { return len(l.Entries) }

// Head returns the hash chain's value after all entries. Two reports that were kept can prove with it that one log is a prefix of the other.
func (l *Ledger) Head() small.Digest { return l.HeadAt(len(l.heads)) }

// HeadAt returns the head after the first n entries; n is at most Len.
func (l *Ledger) HeadAt(n int) small.Digest {
	if n == 0 {
		return emptyHead
	}
	return l.heads[n-1]
}

// HasAll reports whether l has every entry of p as often as p, in any order.
func (l *Ledger) HasAll(p *Ledger) bool {
	left := map[small.Digest]int{}
	for _, e := range l.Entries {
		left[e.Digest]++
	}
	for _, e := range p.Entries {
		if left[e.Digest]--; left[e.Digest] < 0 {
			return false
		}
	}
	return true
}

// Extends reports whether p is a prefix of l or equal to it.
func (l *Ledger) Extends(p *Ledger) bool {
	return l.Len() >= p.Len() && l.HeadAt(p.Len()) == p.Head()
}

// FirstEntries returns the ledger of the first n entries.
func (l *Ledger) FirstEntries(n int) *Ledger {
	return &Ledger{Entries: l.Entries[:n:n], heads: l.heads[:n:n], used: l.used}
}

// Common returns the number of leading entries that two ledgers share.
func Common(a, b *Ledger) int {
	return sort.Search(min(a.Len(), b.Len()), func(n int) bool { return a.heads[n] != b.heads[n] })
}

// LedgerOf reads the ledger of a parsed progress file. "entries" must be a list, but its items need not fit the schema.
func LedgerOf(doc *small.Document) (*Ledger, []small.Problem) {
	entries := doc.Root.Get("entries")
	if entries == nil {
		return nil, []small.Problem{{Kind: small.ProblemSchema, Pos: doc.Root.Pos, Subject: "entries", Message: `the key "entries" is missing`, Hint: "add entries: []"}}
	}
	if entries.Kind != small.List {
		return nil, []small.Problem{{Kind: small.ProblemSchema, Pos: entries.Pos, Subject: "entries", Message: fmt.Sprintf(`"entries" is %s; a list is expected`, entries.Kind)}}
	}
	return NewLedger(entries.Items), nil
}
