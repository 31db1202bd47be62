package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Report reports the problems of one kind, or all of them if kind is empty.
func (u *UnreadableLog) Report(r *rule.Reporter, kind small.ProblemKind) {
	for _, p := range u.Problems {
		if kind == "" || kind == p.Kind {
			u.reportOne(r, p)
		}
	}
}

func (u *UnreadableLog) reportOne(r *rule.Reporter, p small.Problem) {
	f := finding.OfProblem(u.Path, p)
	f.Fix = u.fix(p)
	f.Edits = finding.Unreadable(u.Path, u.Object, p)
	r.Add(f)
}

// OfLogRule reports whether log/unreadable speaks of a problem, and not the family validate: that of a configured log whose file can be read.
func (u *UnreadableLog) OfLogRule(kind small.ProblemKind) bool {
	return u.Run.Source.Policy.LogFor(u.Path) != nil && kind != small.ProblemNotAFile && kind != small.ProblemTooLarge
}

// Unreadable is log/unreadable: a configured log is not what its stanza says.
var Unreadable = rule.New("log/unreadable", finding.SeverityError, finding.StageHistory, rule.On(func(u *UnreadableLog, r *rule.Reporter) {
	for _, p := range u.Problems {
		if u.OfLogRule(p.Kind) && !u.Run.Source.IsFamilyLog(u.Path) {
			u.reportOne(r, p)
		}
	}
}))

// fix says how to make the log readable again: one that is not committed may also be corrected by its writer.
func (u *UnreadableLog) fix(p small.Problem) string {
	s := u.Run.Situation(u.Commit)
	switch {
	case u.Run.Source.IsFamilyLog(u.Path):
		return p.Hint
	case s.Standing == history.Landed && u.Run.Source.Policy.LogFor(u.Path) != nil && s.Commit != "" && !history.Uncommitted(s.Commit):
		return s.AcceptSince()
	case !history.Uncommitted(s.Commit), p.Kind == small.ProblemNotAFile:
		return s.Undo(u.Path, []string{"small-hook restore" + remedy.InDirectory(u.Path)})
	case p.Conflict && u.Run.Source.Policy.LogFor(u.Path) != nil:
		fix := wording.Commands("small-hook reconcile")
		if len(u.Run.Scope.Parents) > 1 || u.Run.Options.Replay {
			return fix
		}
		return "in a squash, a stash or a rebase that stopped: " + fix + "; else " + wording.Commands("small-hook restore "+wording.TopPath(u.Path))
	case p.Conflict:
		dir, _ := small.WorkspaceOf(u.Path)
		return s.Resolve(dir)
	case u.Readable:
		back := wording.Commands("small-hook restore"+remedy.InDirectory(u.Path)) + " puts the last log back, and keeps this file aside"
		if p.Hint == "" {
			return back
		}
		return p.Hint + "; or " + back
	}
	return p.Hint
}

// Loss is how entries were lost before they were committed.
type Loss struct {
	// Discarded is true if git has taken them away on request, as git checkout does; otherwise a writer has written over them.
	Discarded bool
	// Sealed is true if the commit that is judged changes the log, so that they would be missing from then on.
	Sealed bool
}

// LogChange is the comparison of one log in a parent with the same log in a child.
type LogChange struct {
	rule.Place
	Run  *run.Run
	Path string
	// OldPath is the log's path in the parent.
	OldPath string
	*ledger.Comparison
	// Fix is the remedy if a whole branch, and not a commit, has to be redone. If it is empty, the Situation decides.
	Fix   string
	Merge bool
	// ParentHasNoLog is true if the parent has no log at the path, and the old log is an earlier one.
	ParentHasNoLog bool
	// Side names the parent of a merge, for messages.
	Side string
	// NewEntries are the indexes of entries that no parent has; Misplaced are those of them that are before a
	// parent's entry. They are set on one edge of a commit only.
	NewEntries, Misplaced []int
	// AddsInMerge is true on all edges of a merge in which no parent has some entries.
	AddsInMerge bool
	// BeforeTarget are the indexes of entries of a merge that the target lacks and that stand before one that it has. They are set on one
	// edge of a commit only.
	BeforeTarget []int
	// Loss says what became of the old log, which is from no commit, but as a guarded writer left it in the work tree; else it is nil.
	Loss *Loss
	// before and after are the two files, if they were read from a tree.
	before, after history.File
	// oldHead is the ledger head of Old, once it is needed.
	oldHead string
	// allowed is what an approved rewrite did on this edge, and what it did besides; nil if there was none.
	allowed *LogChange
}

// Situation says who already has the commit, which decides how to undo it.
func (e *LogChange) Situation() remedy.Situation { return e.Run.Situation(e.Commit) }

// JudgesNew reports whether rules about new entries apply. In a whole history all entries are new: there they apply only in strict mode.
func (e *LogChange) JudgesNew() bool { return !e.Run.Scope.Whole || e.Run.Collector.Strict }

// ofFamily reports whether a family reads the log and judges its edits.
func (e *LogChange) ofFamily() bool { return e.Run.Source.IsFamilyLog(e.Path) }

// Configured reports whether it is a configured log, not the protocol's: a merge, or union, may interleave its entries without a reconcile entry.
func (e *LogChange) Configured() bool { return e.Run.Source.Policy.LogFor(e.Path) != nil }

// ofFile reports whether the log is a file in a folder whose files must not change.
func (e *LogChange) ofFile() bool { return e.Run.Source.IsFileEntry(e.Path) }

// dropOrder forgets where entries stand: in a log without an order they may stand anywhere.
func (e *LogChange) dropOrder() {
	e.Inserted = nil
	e.Edits = slices.DeleteFunc(e.Edits, func(x ledger.Edit) bool { return x.Kind == ledger.EditReordered })
	if e.Relation == ledger.Interleaved || e.Relation == ledger.Rewritten && len(e.Edits) == 0 {
		e.Relation = ledger.Extended
	}
}

// dropBetween forgets new entries between the first ones of Old, which an archive had, and those of the log that came to it: a squash has what a
// branch recorded in the archive before. If the log came in one piece, that is where it is, whatever equal entries stand around it.
func (e *LogChange) dropBetween(had int) {
	old, now := ledger.DigestsOf(e.Old), ledger.DigestsOf(e.New)
	kept := ledger.Subsequence(old, now)
	if e.Relation != ledger.Interleaved || kept == nil {
		return
	}
	last := -1
	if had > 0 {
		last = kept[had-1]
	}
	came := old[had:]
	for at := last + 1; at+len(came) <= len(now); at++ {
		if slices.Equal(now[at:at+len(came)], came) {
			for i := range came {
				kept[had+i] = at + i
			}
			break
		}
	}
	e.Inserted = nil
	for i, k := 0, 0; k < len(kept); i++ {
		switch {
		case i == kept[k]:
			k++
		case k != had:
			e.Inserted = append(e.Inserted, i)
		}
	}
}

// SetParent makes it the edge of a commit to one of its parents.
func (e *LogChange) SetParent(n history.Commit, side int) {
	if len(n.Parents) == 0 {
		return
	}
	e.Parent, e.Side = n.Parents[side], SideName(side, n.Parents[side])
	e.Merge = len(n.Parents) > 1
}

// position is where in the child's file the edit shows: the first changed field, or the entry; for a
// deleted entry, where it would be.
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
	f := finding.Finding{Path: e.Path, OldPath: e.OldPath, Line: pos.Line, Column: pos.Column, Changes: x.Changes, Waived: x.Waived, Moved: x.Kind == ledger.EditReordered}
	if x.OldIndex >= 0 {
		f.Entry = finding.RefOf(e.Old.Entries[x.OldIndex])
		f.EditFrom = f.Entry.Digest.String()
	}
	now := x.Reopened
	if x.NewIndex >= 0 {
		now = &e.New.Entries[x.NewIndex]
	}
	if now != nil {
		after := finding.RefOf(*now)
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

// NewEntry begins the finding of a new entry.
func (e *LogChange) NewEntry(index int) finding.Finding {
	return e.Finding(ledger.Edit{OldIndex: -1, NewIndex: index})
}

// Insertion begins the finding of a new entry, all of whose fields it lists.
func (e *LogChange) Insertion(index int) finding.Finding {
	f := e.NewEntry(index)
	f.Whole = wholeEntry(e.NewRecords, index, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(nil, v) })
	return f
}

// InsertionKeys identify insertions, so that each is reported once.
func (e *LogChange) InsertionKeys(indexes []int) []finding.EditKey {
	keys := make([]finding.EditKey, len(indexes))
	for i, index := range indexes {
		keys[i] = finding.EditKey{Path: e.Path, To: e.New.Entries[index].Digest.String()}
	}
	return keys
}

// maxFields is how many changed fields a message names.
const maxFields = 8

// DescribeModified says which fields of an entry changed.
func (e *LogChange) DescribeModified(x ledger.Edit) string {
	var fields []string
	for i, c := range x.Changes {
		if i == maxFields {
			fields = append(fields, fmt.Sprintf("and %d more", len(x.Changes)-i))
			break
		}
		if c.Field != "" {
			fields = append(fields, c.Field)
		}
	}
	words := ledger.Describe(e.Old.Entries[x.OldIndex]) + " was modified"
	if x.Reopened != nil {
		words = ledger.Describe(e.Old.Entries[x.OldIndex]) + " was set back to open, although it was finished"
	}
	if len(fields) > 0 {
		words += ": " + strings.Join(fields, ", ")
	}
	return words
}

// wholeEntry returns a function that lists every field of one entry as a change.
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

// FamilyChange is the edge of a log that a family reads: only the family's rules judge it.
type FamilyChange struct{ *LogChange }

// UnreadableLog is a child's log that cannot be read.
type UnreadableLog struct {
	rule.Place
	Run          *run.Run
	Path, Object string
	Problems     []small.Problem
	// Readable is true if it can be read in a parent.
	Readable bool
}

// Undo is the fix that undoes what was done to the log and keeps all other work.
func (e *LogChange) Undo() string {
	s := e.Situation()
	switch {
	case e.Fix != "":
		return e.Fix + e.approval()
	case e.Merge && history.Uncommitted(s.Commit):
		if e.Run.Source.IsImmutableRecord(e.Path) {
			return e.PutBack() + ", " + wording.Commands(wording.FinishMerge)
		}
		if e.AddsInMerge && e.Configured() { // reconcile would drop them, and refuses that
			return wording.Commands("small-hook restore"+remedy.InDirectory(e.Path), wording.FinishMerge)
		}
		return remedy.Reconcile
	case s.Standing == history.Landed:
		return e.PutBack() + s.Excuse() + e.approval()
	case e.Merge || s.Standing != history.Own:
		return e.PutBack() + e.approval()
	}
	return e.PutBack() + "; " + e.instead() + e.approval()
}

// fewEdits is up to how many entries are rather waived one by one.
const fewEdits = 2

// approval is the hint that the rewrite can be approved as a whole, to be appended to a fix, where many entries of a configured log were
// changed or lost.
func (e *LogChange) approval() string {
	edits := 0
	for _, x := range e.Edits {
		if x.OldIndex >= 0 && !x.Waived {
			edits++
		}
	}
	if !e.Configured() || e.ofFile() || edits <= fewEdits || e.Situation().NoWaiver {
		return ""
	}
	return "; if the log is to be rewritten as a whole, a person approves that first: small-hook waive --log " + wording.TopPath(e.Path)
}

// UndoAndBeginRun is the fix for entries after the end of their run: it undoes them and begins a new run.
func (e *LogChange) UndoAndBeginRun() string {
	s := e.Situation()
	if e.Fix != "" || e.Merge || s.Standing != history.Own {
		return e.Undo()
	}
	dir, _, _ := small.SplitPath(e.Path)
	return remedy.BeginRun(dir, s.Commit, e.PutBack()+", ")
}

// instead says what to do instead of the change that is undone.
func (e *LogChange) instead() string {
	switch {
	case e.ofFile():
		return "a correction is a new file"
	case !e.ParentHasNoLog:
		return "a correction is a new entry"
	}
	rule := "append-only/log-deleted"
	if f := e.Run.Source.Policy.FormatAt(e.Path); f != nil {
		rule = f.Rule
	}
	elsewhere := "another log stood here: begin the new one in another directory"
	if e.Situation().NoWaiver {
		return elsewhere
	}
	if e.oldHead == "" {
		e.oldHead = e.Run.Source.Policy.LogFor(e.Path).Head(e.Old).String()
	}
	return elsewhere + ", or have a person waive " + rule + " from " + e.oldHead
}

// RecordAgain is the fix that records the new entries again, each later than the one before it.
func (e *LogChange) RecordAgain() string {
	if e.Fix != "" {
		return e.Fix
	}
	return e.PutBack()
}

// PutBack is the fix that brings the log's old entries back and keeps new ones after them.
func (e *LogChange) PutBack() string {
	s, at := e.Situation(), wording.TopPath(e.Path)
	from, source := "HEAD", ""
	if !history.Uncommitted(s.Commit) {
		from = history.Short(s.Commit) + "^"
	}
	switch {
	case s.Standing == history.Landed && e.Configured() && s.Commit != "" && !history.Uncommitted(s.Commit):
		return s.AcceptSince()
	case s.Against != "":
		return wording.Commands(remedy.RestoreFrom(e.Path, history.Short(s.Against)))
	case e.ParentHasNoLog:
		source = fmt.Sprintf(`"$(git rev-list -n 1 %s -- %s)^"`, from, at) // the last commit that touched the log removed it
	}
	dir, _, _ := small.SplitPath(e.Path)
	switch all := small.InDir(dir, ""); {
	case source == "" && e.Run.Source.IsImmutableRecord(e.Path): // one command for all records
		back := "small-hook restore" + remedy.InDirectory(all)
		if s.Standing == history.Landed && !history.Uncommitted(s.Commit) {
			const never = "Landed commits are never rewritten"
			if e.New.Len() > 0 {
				return never // nor is the record put back, which would be another edit
			}
			return never + ". The record comes back in a new commit: " + wording.Commands(remedy.RestoreFrom(e.Path, history.Short(e.Parent)))
		}
		return s.Undo(all, []string{back})
	case e.ofFamily(), e.ofFile():
		return s.Undo(e.Path, []string{"git restore --source=" + cmp.Or(source, "HEAD") + " --staged --worktree -- " + at}, e.Path)
	case source == "":
		return s.Undo(e.Path, []string{"small-hook restore" + remedy.InDirectory(e.Path)})
	case s.Standing != history.Own:
		return s.Undo(e.Path, nil)
	case from == "HEAD":
		return wording.Commands("small-hook restore" + remedy.InDirectory(e.Path) + " --source " + source)
	}
	return s.OnBranch(remedy.Mend(e.Path, s.Commit) + " --source " + source)
}

// Correct is the fix for a new entry; how is the correction.
func (e *LogChange) Correct(how string) string {
	if e.Fix != "" {
		return how
	}
	return e.Situation().Correct(how, e.Path, e.Configured() && !e.ofFile() && !e.Merge && len(e.NewEntries) == 1)
}
