package subject

import (
	"cmp"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Report reports the problems of one kind, or of any.
func (u *UnreadableLog) Report(r *rule.Reporter, kind small.ProblemKind) {
	for _, p := range u.Problems {
		if kind == "" || kind == p.Kind {
			f := finding.OfProblem(u.Path, p)
			f.Edits = finding.Unreadable(u.Path, u.Object, p)
			r.Add(f)
		}
	}
}

// Edge is one ledger's way from a parent to a child, compared and, where
// entries were rewritten, explained. Rules about edges read it.
type Edge struct {
	rule.Place
	Remedies Remedies
	Path     string
	// Was is the log's path in the parent, where it has moved since.
	OldPath string
	*ledger.Comparison
	Merge bool
	// Gone is true if p stood at the path before the parent, which has no log there.
	ParentHasNoLog bool
	// Side names the parent among several, for messages.
	Side string
	// parents are all of the child's, the first one first, where it is a merge.
	parents []string
	// Fresh are the places in c of the entries that no parent has; intruders
	// are those among them that stand before an entry of a parent. On one
	// edge of a merge only.
	NewEntries, Misplaced []int
	// Clock is the present.
	Clock time.Time
	// Strict turns what is a warning of a snapshot into an error of new entries.
	Strict bool
	// Switches is true of a job's switch history: rules about logs do not speak of
	// it.
	Switches bool
}

// Subject is what rules judge: those about logs do not speak of switches.
func (e *Edge) Subject() rule.Subject {
	if e.Switches {
		return SwitchEdge{e}
	}
	return e
}

// SetParent says whose edge it is: that of a commit to one of its parents.
func (e *Edge) SetParent(n history.Commit, side int) {
	if len(n.Parents) == 0 {
		return
	}
	e.Parent, e.Side = n.Parents[side], sideName(side, n.Parents[side])
	if e.Merge = len(n.Parents) > 1; e.Merge {
		e.parents = n.Parents
	}
}

// place is the line and column in the child's file of what an edit changed:
// the first changed field, or the entry; for an entry that is gone, where it
// would stand.
func (e *Edge) place(x ledger.Edit) small.Pos {
	if x.Pos.Line > 0 {
		return x.Pos
	}
	if x.NewIndex >= 0 {
		return e.New.Entries[x.NewIndex].Pos
	}
	if e.New.Len() == 0 {
		return small.Pos{}
	}
	return e.New.Entries[min(x.OldIndex, e.New.Len()-1)].Pos
}

// Finding begins the finding of one edit: places, references, digests and the
// key under which the edit is reported once.
func (e *Edge) Finding(x ledger.Edit) finding.Finding {
	pos := e.place(x)
	f := finding.Finding{Path: e.Path, OldPath: e.OldPath, Line: pos.Line, Column: pos.Column, Changes: x.Changes}
	if x.OldIndex >= 0 {
		f.Entry = finding.RefOf(e.Old.Entries[x.OldIndex])
		f.EditFrom = f.Entry.Digest.String()
	}
	if x.NewIndex >= 0 {
		after := finding.RefOf(e.New.Entries[x.NewIndex])
		f.EditTo = after.Digest.String()
		if f.Entry == nil {
			f.Entry = after
		} else {
			f.EntryAfter = after
		}
	}
	if x.Kind == ledger.EditDeleted {
		f.Whole = wholeEntry(e.OldRecords, x.OldIndex, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(v, nil) })
	}
	f.Edits = []finding.EditKey{{Path: cmp.Or(e.OldPath, e.Path), From: f.EditFrom, To: f.EditTo}}
	return f
}

// Insertion begins the finding of an entry that was put in.
func (e *Edge) Insertion(place int) finding.Finding {
	f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: place})
	f.Whole = wholeEntry(e.NewRecords, place, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(nil, v) })
	return f
}

// wholeEntry gives every field of one entry as a change.
func wholeEntry(records ledger.RecordsFunc, at int, changes func(*small.Value) []ledger.FieldChange) func() ([]ledger.FieldChange, error) {
	if records == nil {
		return nil
	}
	return func() ([]ledger.FieldChange, error) {
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
		return "our side (" + history.Short(id) + ")"
	}
	return "the merged side (" + history.Short(id) + ")"
}

// SwitchEdge is the way of a record's history of switches.
type SwitchEdge struct{ *Edge }

// UnreadableLog is a log, or a record, that a child has and that cannot be read as
// one.
type UnreadableLog struct {
	rule.Place
	Path, Object string
	Problems     []small.Problem
	// IsJob and isCampaign are true of records.
	IsJob, IsCampaign bool
}
