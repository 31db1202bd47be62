package subject

import (
	"cmp"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Report reports the problems of one kind; of any kind if it is empty.
func (u *UnreadableLog) Report(r *rule.Reporter, kind small.ProblemKind) {
	for _, p := range u.Problems {
		if kind == "" || kind == p.Kind {
			f := finding.OfProblem(u.Path, p)
			f.Fix = u.fix(p)
			f.Edits = finding.Unreadable(u.Path, u.Object, p)
			r.Add(f)
		}
	}
}

// fix says how to undo that the log cannot be read: what is not committed may be put right by who wrote it, too.
func (u *UnreadableLog) fix(p small.Problem) string {
	s := u.Situation()
	switch {
	case u.IsJob || u.IsCampaign:
		return p.Hint
	case !history.Uncommitted(s.Commit), p.Kind == small.ProblemNotAFile:
		return s.Undo(u.Path, []string{"small-hook restore" + InDirectory(u.Path)})
	case p.Conflict:
		dir, _ := small.WorkspaceOf(u.Path)
		return s.Resolve(dir)
	case u.Readable:
		back := wording.Commands("small-hook restore"+InDirectory(u.Path)) + " puts the last log back, and keeps this file aside"
		if p.Hint == "" {
			return back
		}
		return p.Hint + "; or " + back
	}
	return p.Hint
}

// LogChange is one log from a parent to a child, compared.
type LogChange struct {
	rule.Place
	Path string
	// Fix is the remedy if not a commit but a whole branch has to be redone. If it is empty, Situation says where the commit
	// stands.
	Fix       string
	Situation func() Situation
	// OldPath is the log's path in the parent.
	OldPath string
	*ledger.Comparison
	Merge bool
	// ParentHasNoLog is true if the old log stood at the path before the parent, which has none there.
	ParentHasNoLog bool
	// Side names the parent of a merge, for messages.
	Side string
	// NewEntries are the indexes of entries that no parent has; Misplaced are those of them that stand before a
	// parent's entry. They are set on one edge of a commit only.
	NewEntries, Misplaced []int
	// Uncommitted is true if the old log is no commit's: a guarded writer has left it in the work tree.
	Uncommitted bool
	// Clock is the present.
	Clock time.Time
	// Strict makes errors of some warnings about new entries. Whole is true in a whole history, of which no entry is new.
	Strict, Whole bool
	// Switches is true of a job's switch history.
	Switches bool
}

// Subject is what rules judge: rules about logs do not judge switches.
func (e *LogChange) Subject() rule.Subject {
	if e.Switches {
		return SwitchChange{e}
	}
	return e
}

// SetParent makes it the edge of a commit to one of its parents.
func (e *LogChange) SetParent(n history.Commit, side int) {
	if len(n.Parents) == 0 {
		return
	}
	e.Parent, e.Side = n.Parents[side], SideName(side, n.Parents[side])
	e.Merge = len(n.Parents) > 1
}

// position is where in the child's file the edit shows: the first changed field, or the entry; for an
// entry that is gone, where it would stand.
func (e *LogChange) position(x ledger.Edit) small.Pos {
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

// Finding begins the finding of one edit.
func (e *LogChange) Finding(x ledger.Edit) finding.Finding {
	pos := e.position(x)
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

// Insertion begins the finding of an inserted entry.
func (e *LogChange) Insertion(index int) finding.Finding {
	f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: index})
	f.Whole = wholeEntry(e.NewRecords, index, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(nil, v) })
	return f
}

// CredentialKey is the key of a credential in a field of an entry: of two rules that find it, one speaks.
func CredentialKey(path, field string, e ledger.Entry) finding.EditKey {
	return finding.EditKey{Path: path + "\x00credential", From: field, To: e.Digest.String()}
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

// SideName names a parent of a merge, for messages.
func SideName(index int, id string) string {
	if index == 0 {
		return "our side (" + history.Short(id) + ")"
	}
	return "the merged side (" + history.Short(id) + ")"
}

// SwitchChange is the edge of a record's switch history.
type SwitchChange struct{ *LogChange }

// UnreadableLog is a child's log, or record, that cannot be read as one.
type UnreadableLog struct {
	rule.Place
	Path, Object string
	Problems     []small.Problem
	// Readable is true if it can be read in a parent.
	Readable bool
	// Situation is where the commit stands.
	Situation func() Situation
	// IsJob and IsCampaign are true of records.
	IsJob, IsCampaign bool
}
