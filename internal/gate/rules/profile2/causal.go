package profile2

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// event is what is kept of an event's record.
type event struct {
	name, id, session, kind, previous, digest string
	sequence                                  int64
	parents, receipts                         []string
	pos                                       [len(placed)]small.Pos
	// topic is what the event decides, and value how: two events of one topic that do not know of each other and say different things are
	// a conflict. Empty for an event that decides nothing.
	topic, value string
	// depth is how many events are before this one on the longest way: more than that of any of them.
	depth int
	// resolution is what the event settles.
	resolution *resolution
	// policy are the digests of the policy files from here on.
	policy map[string]string
}

// placed are the fields of which an event keeps the position.
var placed = [...]string{"event_id", "session_id", "kind", "previous_event", "sequence", "parents", "payload"}

// at is the position of a field.
func (e *event) at(key string) small.Pos { return e.pos[slices.Index(placed[:], key)] }

func newEvent(name string, r *records.Record) *event {
	e := &event{
		name: name, id: r.Text("event_id"), session: r.Text("session_id"), kind: r.Text("kind"), previous: r.Text("previous_event"),
		digest: r.Text("digest"), sequence: r.Int("sequence"), parents: r.Texts("parents"), receipts: r.Texts("payload", "evidence_digests"),
	}
	for i, key := range placed {
		e.pos[i] = r.Pos(key)
	}
	e.decides(r)
	return e
}

// before are the events that an event knows of itself.
func (e *event) before() []string {
	if e.previous == "" {
		return e.parents
	}
	return append([]string{e.previous}, e.parents...)
}

// broken notes that an event does not hang together with the others.
func (w *Workspace) broken(e *event, key, format string, args ...any) {
	w.add(e.name, small.Problem{Kind: causal, Pos: e.at(key), Subject: key, Message: fmt.Sprintf(format, args...), Hint: w.drop(e.name)})
}

// together judges how events hang together: sessions, sequences, parents and receipts.
func (w *Workspace) together(ctx context.Context) error {
	if err := w.loadPrevious(ctx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(w.events)) {
		e := w.events[id]
		if !w.isFresh(e.name) {
			continue
		}
		if !w.sessions[e.session] {
			w.broken(e, "session_id", "event %s references missing session %s", e.id, e.session)
		}
		for _, parent := range e.parents {
			if w.places[parent] == "" {
				w.broken(e, "parents", "event %s references missing parent %s", e.id, parent)
			}
		}
		if sorted := slices.Sorted(slices.Values(e.parents)); len(slices.Compact(sorted)) < len(e.parents) {
			w.broken(e, "parents", "event %s names a parent twice", e.id)
		}
		for _, digest := range e.receipts {
			if _, there := w.files["receipts/sha256/"+digest+".json"]; !there {
				w.broken(e, "payload", "event %s references missing receipt %s", e.id, digest)
			}
		}
		if copies := w.copies[e.id]; len(copies) > 0 && !w.whole {
			w.broken(e, "event_id", "the event %s is at %s and at %s: an id is given once", e.id, w.places[e.id], strings.Join(copies, " and at "))
		}
	}
	chains := map[string][]*event{}
	for _, e := range w.events {
		chains[e.session] = append(chains[e.session], e)
	}
	for _, session := range slices.Sorted(maps.Keys(chains)) {
		w.chain(session, chains[session])
	}
	w.cycles()
	return nil
}

// loadPrevious reads, where not all records are, the old events on which new ones follow in their sessions.
func (w *Workspace) loadPrevious(ctx context.Context) error {
	if w.whole {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(w.events)) {
		name := "events/" + w.events[id].session + "/" + w.events[id].previous + ".json"
		f, there := w.files[name]
		if w.events[id].previous == "" || w.events[w.events[id].previous] != nil || !there {
			continue
		}
		data, err := w.read(ctx, name, f)
		if err != nil {
			return err
		}
		if r, _ := records.Read(name, data, small.Limits{MaxFileSize: records.Event.Sized(0)}); r != nil {
			w.record(name, r)
		}
	}
	return nil
}

// chain judges the sequence of one session's events: from 1, without gaps, each after the one before it, nothing after the end. Where only
// new ones are read, and those on which they follow, the others have to be the first ones. Where one could not be read, that is what is wrong.
func (w *Workspace) chain(session string, events []*event) {
	slices.SortFunc(events, func(a, b *event) int { return cmp.Or(cmp.Compare(a.sequence, b.sequence), strings.Compare(a.id, b.id)) })
	var last *event
	want := int64(1)
	switch all := w.chains[session]; {
	case !w.whole:
		judged := slices.DeleteFunc(slices.Clone(events), func(e *event) bool { return !w.isFresh(e.name) })
		if len(judged) == 0 {
			return
		}
		last, want = w.events[judged[0].previous], int64(all-len(judged)+1)
		events = judged
	case all > len(events):
		return
	}
	for _, e := range events {
		if last != nil && e.sequence == last.sequence {
			w.forked(last, e)
			continue
		}
		if w.follows(e, last, want) && last != nil && last.kind == "session_closed" {
			w.broken(e, "kind", "event %s follows on the end of session %s", e.id, session)
		}
		last, want = e, e.sequence+1
	}
}

// follows reports whether an event follows on the last one of its session, with the sequence that is wanted, and notes if it does not.
func (w *Workspace) follows(e, last *event, want int64) bool {
	switch {
	case e.sequence == 1 && e.previous != "":
		w.broken(e, "previous_event", "first event cannot have previous_event: %s", e.id)
	case e.sequence > 1 && e.previous == "":
		w.broken(e, "sequence", "sequence %d requires previous_event: %s", e.sequence, e.id)
	case e.sequence != want && !w.whole && e.sequence < want:
		w.forked(nil, e)
	case e.sequence != want:
		w.broken(e, "sequence", "session %s sequence %d previous_event mismatch: %d is expected after the events that stand there", e.session, e.sequence, want)
	case e.sequence > 1 && (last == nil || last.session != e.session):
		w.broken(e, "previous_event", "event %s references missing parent %s", e.id, e.previous)
	case last != nil && e.previous != last.id:
		w.broken(e, "previous_event", "session %s sequence %d previous_event mismatch: it is %s; %s is expected", e.session, e.sequence, e.previous, last.id)
	default:
		return true
	}
	return false
}

// forked notes that two events of a session have one place in its sequence. git merges that without a word.
func (w *Workspace) forked(one, other *event) {
	at, with := other, "another event"
	if one != nil {
		if !w.isFresh(other.name) {
			at, one = one, other
		}
		with = one.id
	}
	w.add(at.name, small.Problem{
		Kind: fork, Pos: at.at("sequence"), Subject: "sequence",
		Message: fmt.Sprintf("session chain fork: session %s sequence %d has events %s and %s: two clones went on with one session", at.session, at.sequence, with, at.id),
		Hint: "on the branch that is not published, drop its events of the session (its commits are rewritten without them) and record them in a session of its own: " +
			wording.Commands("small session start --parent-session "+wording.ShellWord(at.session)),
	})
}

// cycles finds events that are before themselves, and says of the others how deep they are.
func (w *Workspace) cycles() {
	waiting, ready := map[string]int{}, []string{}
	w.after = map[string][]string{}
	for id, e := range w.events {
		for _, before := range e.before() {
			if w.events[before] != nil {
				waiting[id]++
				w.after[before] = append(w.after[before], id)
			}
		}
		if waiting[id] == 0 {
			ready = append(ready, id)
		}
	}
	for ; len(ready) > 0; ready = ready[1:] {
		depth := w.events[ready[0]].depth + 1
		for _, id := range w.after[ready[0]] {
			w.events[id].depth = max(w.events[id].depth, depth)
			if waiting[id]--; waiting[id] == 0 {
				ready = append(ready, id)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(waiting)) {
		if waiting[id] > 0 {
			w.broken(w.events[id], "parents", "event graph cycle at %s", id)
		}
	}
}
