package gate

import (
	"cmp"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// LogEdge is one ledger's way from a parent to a child, compared and, where
// entries were rewritten, explained. Rules about edges read it.
type LogEdge struct {
	Place
	remedies Remedies
	path     string
	// was is the log's path in the parent, where it has moved since.
	was string
	*comparison
	merge bool
	// gone is true if p stood at the path before the parent, which has no log there.
	gone bool
	// side names the parent among several, for messages.
	side string
	// parents are all of the child's, the first one first, where it is a merge.
	parents []string
	// fresh are the places in c of the entries that no parent has; intruders
	// are those among them that stand before an entry of a parent. On one
	// edge of a merge only.
	fresh, intruders []int
	// clock is the present.
	clock time.Time
	// strict turns what is a warning of a snapshot into an error of new entries.
	strict bool
	// switches is true of a job's switch history: rules about logs do not speak of
	// it.
	switches bool
}

// subject is what rules judge: those about logs do not speak of switches.
func (e *LogEdge) subject() Subject {
	if e.switches {
		return SwitchEdge{e}
	}
	return e
}

// setParent says whose edge it is: that of a commit to one of its parents.
func (e *LogEdge) setParent(n Commit, side int) {
	if len(n.Parents) == 0 {
		return
	}
	e.Parent, e.side = n.Parents[side], sideName(side, n.Parents[side])
	if e.merge = len(n.Parents) > 1; e.merge {
		e.parents = n.Parents
	}
}

// place is the line and column in the child's file of what an edit changed:
// the first changed field, or the entry; for an entry that is gone, where it
// would stand.
func (e *LogEdge) place(x edit) small.Pos {
	if x.pos.Line > 0 {
		return x.pos
	}
	if x.after >= 0 {
		return e.now.Entries[x.after].Pos
	}
	if e.now.Len() == 0 {
		return small.Pos{}
	}
	return e.now.Entries[min(x.before, e.now.Len()-1)].Pos
}

// finding begins the finding of one edit: places, references, digests and the
// key under which the edit is reported once.
func (e *LogEdge) finding(x edit) Finding {
	pos := e.place(x)
	f := Finding{Path: e.path, was: e.was, Line: pos.Line, Column: pos.Column, Changes: x.changes}
	if x.before >= 0 {
		f.Entry = refOf(e.old.Entries[x.before])
		f.EditFrom = f.Entry.Digest.String()
	}
	if x.after >= 0 {
		after := refOf(e.now.Entries[x.after])
		f.EditTo = after.Digest.String()
		if f.Entry == nil {
			f.Entry = after
		} else {
			f.EntryAfter = after
		}
	}
	if x.kind == editDeleted {
		f.whole = wholeEntry(e.oldRecords, x.before, func(v *small.Value) []FieldChange { return fieldChanges(v, nil) })
	}
	f.edits = []editKey{{path: cmp.Or(e.was, e.path), from: f.EditFrom, to: f.EditTo}}
	return f
}

// insertion begins the finding of an entry that was put in.
func (e *LogEdge) insertion(place int) Finding {
	f := e.finding(edit{kind: editInserted, before: -1, after: place})
	f.whole = wholeEntry(e.nowRecords, place, func(v *small.Value) []FieldChange { return fieldChanges(nil, v) })
	return f
}

// wholeEntry gives every field of one entry as a change.
func wholeEntry(records recordsFunc, at int, changes func(*small.Value) []FieldChange) func() ([]FieldChange, error) {
	if records == nil {
		return nil
	}
	return func() ([]FieldChange, error) {
		all, err := records()
		if err != nil {
			return nil, err
		}
		return changes(all[at]), nil
	}
}

// sideName names a parent of a merge for people.
func sideName(index int, id string) string {
	if index == 0 {
		return "our side (" + short(id) + ")"
	}
	return "the merged side (" + short(id) + ")"
}

// SwitchEdge is the way of a record's history of switches.
type SwitchEdge struct{ *LogEdge }

// UnreadableLog is a log, or a record, that a child has and that cannot be read as
// one.
type UnreadableLog struct {
	Place
	path, object string
	problems     []small.Problem
	// isJob and isCampaign are true of records.
	isJob, isCampaign bool
}
