package profile2

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// event is what is kept of an event's record.
type event struct {
	name, id, session, kind, previous, digest string
	sequence                                  int64
	parents, receipts                         []string
	pos                                       [len(positioned)]small.Pos
	// topic is the question that the event decides, and value its answer; empty for an event that decides nothing. Two events of one topic with
	// different values are a conflict if neither comes after the other.
	topic, value string
	// depth is the length of the longest path from an event without parents, in steps.
	depth int
	// resolution is the conflict that the event resolves; nil for none.
	resolution *resolution
	// policy are the digests that the policy's files have from this event on, by name; nil if it does not change the policy.
	policy map[string]string
}

// positioned are the fields whose positions an event keeps.
var positioned = [...]string{"event_id", "session_id", "kind", "previous_event", "sequence", "parents", "payload"}

// fieldPos returns the position of a field.
func (e *event) fieldPos(key string) small.Pos { return e.pos[slices.Index(positioned[:], key)] }

func newEvent(name string, r *records.Record) *event {
	e := &event{
		name: name, id: r.Text("event_id"), session: r.Text("session_id"), kind: r.Text("kind"), previous: r.Text("previous_event"),
		digest: r.Text("digest"), sequence: r.Int("sequence"), parents: r.Texts("parents"), receipts: r.Texts("payload", "evidence_digests"),
	}
	for i, key := range positioned {
		e.pos[i] = r.Pos(key)
	}
	e.setDecision(r)
	return e
}

// parentsOf returns the events that an event knows of itself.
func (e *event) parentsOf() []string {
	if e.previous == "" {
		return e.parents
	}
	return append([]string{e.previous}, e.parents...)
}

// addEventProblem adds a problem between an event and others, at one of its fields.
func (w *Workspace) addEventProblem(e *event, key, format string, args ...any) {
	w.addIfFresh(e.name, small.Problem{Kind: causal, Pos: e.fieldPos(key), Subject: key, Message: fmt.Sprintf(format, args...), Hint: w.removalFix(e.name)})
}

// checkEvents judges the references of events: sessions, sequences, parents and receipts.
func (w *Workspace) checkEvents(ctx context.Context) error {
	if err := w.loadPrevious(ctx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(w.events)) {
		e := w.events[id]
		if !w.isFresh(e.name) {
			continue
		}
		if !w.sessions[e.session] {
			w.addEventProblem(e, "session_id", "event %s references missing session %s", e.id, e.session)
		}
		for _, parent := range e.parents {
			if w.places[parent] == "" {
				w.addEventProblem(e, "parents", "event %s references missing parent %s", e.id, parent)
			}
		}
		if sorted := slices.Sorted(slices.Values(e.parents)); len(slices.Compact(sorted)) < len(e.parents) {
			w.addEventProblem(e, "parents", "event %s names a parent twice", e.id)
		}
		for _, digest := range e.receipts {
			if _, there := w.files["receipts/sha256/"+digest+".json"]; !there {
				w.addEventProblem(e, "payload", "event %s references missing receipt %s", e.id, digest)
			}
		}
		if len(w.copies[e.id]) > 0 && !w.whole {
			if err := w.addCopy(ctx, e); err != nil {
				return err
			}
		}
	}
	chains := map[string][]*event{}
	for _, e := range w.events {
		chains[e.session] = append(chains[e.session], e)
	}
	for _, session := range slices.Sorted(maps.Keys(chains)) {
		w.checkSequence(session, chains[session])
	}
	w.checkCycles()
	return nil
}

// addSecond adds the problem that an event's id is given to the file name, too, whose digest is the second one.
func (w *Workspace) addSecond(e *event, name, digest string) {
	if digest != e.digest {
		w.addEventProblem(e, "event_id", "record identity corruption: event %s has digests %s and %s; the other one is %s", e.id, digest, e.digest, name)
		return
	}
	w.addEventProblem(e, "event_id", "the event %s is at %s and at %s: an id is given once", e.id, name, e.name)
}

// addCopy does what addSecond does for an event that was not compared with the other one yet, since only new records were read.
func (w *Workspace) addCopy(ctx context.Context, e *event) error {
	for _, name := range append([]string{w.places[e.id]}, w.copies[e.id]...) {
		if name == e.name {
			continue
		}
		data, err := w.read(ctx, name, w.files[name])
		if err != nil {
			return err
		}
		digest := e.digest
		if other, _ := records.Read(name, data, small.Limits{MaxFileSize: records.Event.MaxSize(0)}); other != nil {
			digest = other.Text("digest")
		}
		w.addSecond(e, name, digest)
		break
	}
	return nil
}

// loadPrevious reads the old events that new ones name as their previous ones, unless all records are read anyway.
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
		if r, _ := records.Read(name, data, small.Limits{MaxFileSize: records.Event.MaxSize(0)}); r != nil {
			w.keepRecord(name, r)
		}
	}
	return nil
}

// checkSequence judges the sequence of one session's events: from 1, without gaps, each naming the one before it, none after the end. If only new
// events are read, the old ones are taken to be the first of the sequence. If an event could not be read, only that is reported.
func (w *Workspace) checkSequence(session string, events []*event) {
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
			w.addFork(last, e)
			continue
		}
		if w.checkFollows(e, last, want) && last != nil && last.kind == "session_closed" {
			w.addEventProblem(e, "kind", "event %s follows on the end of session %s", e.id, session)
		}
		last, want = e, e.sequence+1
	}
}

// checkFollows reports whether an event follows the last one of its session and has the wanted sequence. If not, it adds the problem.
func (w *Workspace) checkFollows(e, last *event, want int64) bool {
	switch {
	case e.sequence == 1 && e.previous != "":
		w.addEventProblem(e, "previous_event", "first event cannot have previous_event: %s", e.id)
	case e.sequence > 1 && e.previous == "":
		w.addEventProblem(e, "sequence", "sequence %d requires previous_event: %s", e.sequence, e.id)
	case e.sequence != want && !w.whole && e.sequence < want:
		w.addFork(nil, e)
	case e.sequence != want:
		w.addEventProblem(e, "sequence", "session %s sequence %d previous_event mismatch: %d is expected after the events that stand there", e.session, e.sequence, want)
	case e.sequence > 1 && (last == nil || last.session != e.session):
		w.addEventProblem(e, "previous_event", "event %s references missing parent %s", e.id, e.previous)
	case last != nil && e.previous != last.id:
		w.addEventProblem(e, "previous_event", "session %s sequence %d previous_event mismatch: it is %s; %s is expected", e.session, e.sequence, e.previous, last.id)
	default:
		return true
	}
	return false
}

// addFork adds the problem that two events of a session have the same sequence. git merges such events without a conflict. one is nil if it is not
// known.
func (w *Workspace) addFork(one, other *event) {
	at, with := other, "another event"
	if one != nil {
		if !w.isFresh(other.name) {
			at, one = one, other
		}
		with = one.id
	}
	w.addIfFresh(at.name, forkProblem(at.session, at.sequence, with, at.id, at.fieldPos("sequence")))
}

// forkProblem is the problem that two events of a session have the same sequence. at is the place of the second one.
func forkProblem(session string, sequence int64, one, second string, at small.Pos) small.Problem {
	return small.Problem{
		Kind: fork, Pos: at, Subject: "sequence",
		Message: fmt.Sprintf("session chain fork: session %s sequence %d has events %s and %s: two clones went on with one session", session, sequence, one, second),
		Hint: "on the branch that is not published, drop its events of the session (its commits are rewritten without them) and record them in a session of its own: " +
			wording.Commands("small session start --parent-session "+wording.ShellWord(session)),
	}
}

// checkForkOfTips reports the first event with which both of two branches go on with one session.
func checkForkOfTips(ctx context.Context, t *logs.SessionTips, r *rule.Reporter) error {
	theirs := map[int64]string{}
	for _, f := range t.TargetOnly {
		e, err := readEvent(ctx, t.Run, f)
		if err != nil {
			return err
		}
		if e != nil {
			theirs[e.sequence] = e.id
		}
	}
	var first *event
	for _, f := range t.HeadOnly {
		e, err := readEvent(ctx, t.Run, f)
		if err != nil {
			return err
		}
		if e != nil && theirs[e.sequence] != "" && (first == nil || e.sequence < first.sequence) {
			first = e
		}
	}
	if first != nil {
		f := finding.OfProblem(first.name, forkProblem(first.session, first.sequence, theirs[first.sequence], first.id, first.fieldPos("sequence")))
		f.FixBeforeMerge = true
		r.Add(f)
	}
	return nil
}

// readEvent reads an event of one of two branches, with its whole path as its name; nil if it cannot be read, which is reported at its commit.
func readEvent(ctx context.Context, r *run.Run, f history.File) (*event, error) {
	limits := small.Limits{MaxFileSize: records.Event.MaxSize(0)}
	data, problem, err := read.ReadFile(ctx, r.Source.Tree, f, limits)
	if err != nil || problem != nil {
		return nil, err
	}
	_, name, _ := small.SplitPath(f.Path)
	record, _ := records.Read(name, data, limits)
	if record == nil {
		return nil, nil
	}
	return newEvent(f.Path, record), nil
}

// checkCycles adds a problem for each event that is its own ancestor, and computes the depth of the others.
func (w *Workspace) checkCycles() {
	waiting, ready := map[string]int{}, []string{}
	w.after = map[string][]string{}
	for id, e := range w.events {
		for _, before := range e.parentsOf() {
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
			w.addEventProblem(w.events[id], "parents", "event graph cycle at %s", id)
		}
	}
}
