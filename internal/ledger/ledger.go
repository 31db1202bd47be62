package ledger

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/small-gate/small-gate/internal/small"
)

// ReconcileTask is the task_id of the entry that makes an interleaving explicit.
const ReconcileTask = "meta/reconcile-merge"

// MetaPrefix begins the task ids of bookkeeping entries.
const MetaPrefix = "meta/"

// evidenceKeys are the fields of which an entry needs at least one that is not blank.
var evidenceKeys = []string{"evidence", "verification", "command", "test", "link", "commit"}

// Entry is what a ledger keeps of one element of the progress list.
type Entry struct {
	// Index counts from 0.
	Index  int
	Pos    small.Pos
	Digest small.Digest
	// TaskID, Timestamp, ReplayID, Status and AgentID are the fields of these names, empty if they are not
	// strings. Id, time and status are trimmed, as the protocol compares them; the digest is not.
	TaskID, Timestamp, ReplayID, Status, AgentID string
	// Switch marks a switch of a job's workflow, which has a time and no task.
	Switch bool
	// Reconciles is true if the task_id is exactly ReconcileTask.
	Reconciles bool
	// Suspects are texts that may not survive a rewrite of the file.
	Suspects []small.Suspect
	// Credentials stand in its keys and values; of very many the first ones.
	Credentials []Credential
	// Evidenced is true if a field counts as evidence; Meaningful if such a field also has visible text: an empty
	// mapping counts, but says nothing.
	Evidenced, Meaningful bool
	// Sum is equal for entries with the same texts, times aside, as long as the process lives.
	Sum uint64
}

var sumSeed = maphash.MakeSeed()

// Ledger is the ordered entries of one progress file. It never changes once built, so several goroutines may use
// it; one that extends another shares its storage.
type Ledger struct {
	Entries []Entry
	heads   []small.Digest // heads[i] is the head after i+1 entries
	// used is how much of the storage is taken, by this ledger or one that extends it: only the first extension
	// may write behind the end.
	used *atomic.Int64
}

// NewLedger builds the ledger of a list of entries.
func NewLedger(items []*small.Value) *Ledger {
	l := &Ledger{
		Entries: make([]Entry, 0, len(items)),
		heads:   make([]small.Digest, 0, len(items)),
		used:    new(atomic.Int64),
	}
	return l.append(items, 0)
}

// OfEntries is the ledger of entries that others hold, in a new order.
func OfEntries(entries []Entry) *Ledger {
	l := &Ledger{Entries: slices.Clone(entries), heads: make([]small.Digest, len(entries)), used: new(atomic.Int64)}
	l.used.Store(int64(len(entries)))
	head := emptyHead
	for i := range l.Entries {
		l.Entries[i].Index = i
		head = chain(head, l.Entries[i].Digest)
		l.heads[i] = head
	}
	return l
}

// append returns l extended by items, whose positions are moved down by lines. It uses the storage of l if nobody
// has extended it yet.
func (l *Ledger) append(items []*small.Value, lines int) *Ledger {
	n := l.Len()
	longer := &Ledger{Entries: l.Entries, heads: l.heads, used: l.used}
	if !l.used.CompareAndSwap(int64(n), int64(n+len(items))) {
		longer = &Ledger{Entries: l.Entries[:n:n], heads: l.heads[:n:n], used: new(atomic.Int64)}
		longer.used.Store(int64(n + len(items)))
	}
	head := l.Head()
	var digests small.Digester
	for _, item := range items {
		e := newEntry(item)
		e.Digest = digests.EntryDigest(item)
		e.Index = longer.Len()
		e.Pos.Line += lines
		for i := range e.Suspects {
			e.Suspects[i].Pos.Line += lines
		}
		for i := range e.Credentials {
			e.Credentials[i].Pos.Line += lines
		}
		longer.Entries = append(longer.Entries, e)
		head = chain(head, e.Digest)
		longer.heads = append(longer.heads, head)
	}
	return longer
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
	// A ledger is kept longer than the texts of its entries, of which these would be parts.
	e.TaskID = strings.Clone(strings.TrimSpace(task))
	e.Timestamp = strings.Clone(strings.TrimSpace(textOf("timestamp")(v)))
	e.ReplayID = strings.Clone(textOf("replayId")(v))
	e.Status = strings.Clone(strings.TrimSpace(textOf("status")(v)))
	e.AgentID = strings.Clone(textOf("agent_id")(v))
	return e
}

// TextBytes is about how much memory an entry's texts take.
func (e *Entry) TextBytes() int {
	size := len(e.TaskID) + len(e.Timestamp) + len(e.ReplayID) + len(e.Status) + len(e.AgentID)
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

// hasVisibleEvidence reports whether an entry's evidence holds a scalar that people can see.
func hasVisibleEvidence(entry *small.Value) bool {
	for _, key := range evidenceKeys {
		if v := entry.Get(key); small.NotBlank(v) && hasText(v) {
			return true
		}
	}
	return false
}

func hasText(v *small.Value) bool {
	switch v.Kind {
	case small.Map:
		return slices.ContainsFunc(v.Fields, func(f small.Field) bool { return hasText(f.Value) })
	case small.List:
		return slices.ContainsFunc(v.Items, hasText)
	case small.Null:
		return false
	}
	return strings.ContainsFunc(v.Text, visible)
}

// visible reports whether a character leaves a mark. Joiners, fillers, variation selectors and the blank Braille
// pattern do not, although Unicode calls them printable.
func visible(r rune) bool {
	switch {
	case r == ' ', r == '\u034f', r == '\u115f', r == '\u1160', r == '\u2800', r == '\u3164', r == '\uffa0', r >= '\ufe00' && r <= '\ufe0f':
		return false
	}
	return unicode.IsPrint(r)
}

// Len is the number of entries.
func (l *Ledger) Len() int { return len(l.Entries) }

// Head is the chain value over all entries. With it, two reports kept apart can prove that one log is a prefix of
// the other.
func (l *Ledger) Head() small.Digest { return l.HeadAt(len(l.heads)) }

// HeadAt is the head of the first n entries; n is at most Len.
func (l *Ledger) HeadAt(n int) small.Digest {
	if n == 0 {
		return emptyHead
	}
	return l.heads[n-1]
}

// HasAll reports whether every entry of p is in l, in whatever order.
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

// Extends reports whether p is a prefix of l (or the same).
func (l *Ledger) Extends(p *Ledger) bool {
	return l.Len() >= p.Len() && l.HeadAt(p.Len()) == p.Head()
}

// LedgerOf reads the ledger of a progress document. The items need not fit the schema, but "entries" must be a
// list.
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
