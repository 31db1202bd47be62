package logs

import (
	"cmp"
	"fmt"
	"path"
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
	f.Fix = u.fixOf(p)
	f.Edits = finding.Unreadable(u.Path, u.Object, p)
	r.Add(f)
}

// ReportedByLogRule reports whether the rule log/unreadable reports a problem of this kind. It reports problems in the text of a configured log; the
// rules of the family validate report all other problems.
func (u *UnreadableLog) ReportedByLogRule(kind small.ProblemKind) bool {
	return u.Run.Source.Policy.LogFor(u.Path) != nil && kind != small.ProblemNotAFile && kind != small.ProblemTooLarge
}

// Unreadable is log/unreadable: the text of a configured log has not the form that its stanza names.
var Unreadable = rule.New("log/unreadable", finding.SeverityError, finding.StageHistory, rule.On(func(u *UnreadableLog, r *rule.Reporter) {
	for _, p := range u.Problems {
		if u.ReportedByLogRule(p.Kind) && !u.Run.Source.IsFamilyLog(u.Path) {
			u.reportOne(r, p)
		}
	}
}), rule.On(checkTwin))

// fixOf returns the fix for one problem: a committed change of the file is undone; one that is not committed may also be corrected.
func (u *UnreadableLog) fixOf(p small.Problem) string {
	s := u.Run.Situation(u.Commit)
	switch {
	case u.Run.Source.IsFamilyLog(u.Path):
		return p.Hint
	case s.Standing == history.Landed && u.Run.Source.Policy.LogFor(u.Path) != nil && s.Commit != "" && !history.Uncommitted(s.Commit):
		return s.AcceptSince()
	case s.Commit == "": // files are judged as they are on disk
		return remedy.ReadableAgain(u.Path, s.Commit, p.Hint)
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
	case u.ReadableBefore:
		back := wording.Commands("small-hook restore"+remedy.InDirectory(u.Path)) + " puts the last log back, and keeps this file aside"
		if p.Hint == "" {
			return back
		}
		return p.Hint + "; or " + back
	}
	return p.Hint
}

// Loss says how entries were lost before they were committed.
type Loss struct {
	// Discarded is true if a git command such as git checkout removed them; otherwise a writer overwrote them.
	Discarded bool
	// Staged is true if the change of the log is staged: once it is committed, the log lacks the entries.
	Staged bool
}

// LogChange compares one log in a parent with the same log in a child: it is one edge of the log.
type LogChange struct {
	rule.Place
	Run  *run.Run
	Path string
	// OldPath is the log's path in the parent.
	OldPath string
	*ledger.Comparison
	// Fix, if set, replaces the fix that undoes the edits of this commit, for example if a whole branch has to be redone. If it is empty, the fix
	// follows from Situation.
	Fix string
	// IsMerge is true if the child has several parents.
	IsMerge bool
	// ParentHasNoLog is true if the parent has no log at the path, and Old is the log of an earlier commit.
	ParentHasNoLog bool
	// Side names the parent of a merge, for messages.
	Side string
	// NewEntries are the indexes of entries that no parent has; Misplaced are those of them before an entry of a parent. Only one edge of a commit
	// has them.
	NewEntries, Misplaced []int
	// AddsInMerge is true on all edges of a merge that has entries which no parent has.
	AddsInMerge bool
	// BeforeTarget are the indexes of a merge's entries, without the Misplaced ones, that the target lacks and that stand before an entry of the
	// target. Only one edge has them.
	BeforeTarget []int
	// TargetFix, if set, is the fix for BeforeTarget in place of the usual one.
	TargetFix string
	// Loss is set if Old is not from a commit: a program under small-hook guard left Old in the work tree, and entries of it were lost.
	Loss *Loss
	// beforeFile and afterFile are the two files, if they were read from a tree.
	beforeFile, afterFile history.File
	// headOfOld is the ledger head of Old, once it is needed.
	headOfOld string
	// withoutApproval is the same comparison as if no rewrite were approved; nil if no approved rewrite was applied.
	withoutApproval *LogChange
}

// Situation says who already has the commit. That decides how to undo it.
func (e *LogChange) Situation() remedy.Situation { return e.Run.Situation(e.Commit) }

// isFamilyLog reports whether a family of rules reads the log and judges its edits.
func (e *LogChange) isFamilyLog() bool { return e.Run.Source.IsFamilyLog(e.Path) }

// IsConfigured reports whether the configuration names the log, so that it is not the protocol's. A merge, also with git's union driver, may
// interleave its entries without a reconcile entry.
func (e *LogChange) IsConfigured() bool { return e.Run.Source.Policy.LogFor(e.Path) != nil }

// isFileEntry reports whether the log is a file in a folder whose files must not change.
func (e *LogChange) isFileEntry() bool { return e.Run.Source.IsFileEntry(e.Path) }

// ignoreOrder drops what the comparison says about the order of entries, for a log in which new ones may stand anywhere.
func (e *LogChange) ignoreOrder() {
	e.Inserted = nil
	e.Edits = slices.DeleteFunc(e.Edits, func(x ledger.Edit) bool { return x.Kind == ledger.EditReordered })
	if e.Relation == ledger.Interleaved || e.Relation == ledger.Rewritten && len(e.Edits) == 0 {
		e.Relation = ledger.Extended
	}
}

// dropInsertedAtJoin is for the edge of an archive to which a log was rotated. Old has the archive's own entries, oldLen of them, and then the
// log's. It drops from Inserted the new entries between these two parts: a squash may have entries that were recorded in the archive before the
// rotation. If New has the log's entries in one piece, that piece counts as the second part, even if equal entries stand elsewhere.
func (e *LogChange) dropInsertedAtJoin(oldLen int) {
	old, now := ledger.DigestsOf(e.Old), ledger.DigestsOf(e.New)
	kept := ledger.Subsequence(old, now)
	if e.Relation != ledger.Interleaved || kept == nil {
		return
	}
	last := -1
	if oldLen > 0 {
		last = kept[oldLen-1]
	}
	rotated := old[oldLen:]
	for at := last + 1; at+len(rotated) <= len(now); at++ {
		if slices.Equal(now[at:at+len(rotated)], rotated) {
			for i := range rotated {
				kept[oldLen+i] = at + i
			}
			break
		}
	}
	e.Inserted = nil
	for i, k := 0, 0; k < len(kept); i++ {
		switch {
		case i == kept[k]:
			k++
		case k != oldLen:
			e.Inserted = append(e.Inserted, i)
		}
	}
}

// setParent makes e the edge to the commit's parent with the index side. For a root it does nothing.
func (e *LogChange) setParent(n history.Commit, side int) {
	if len(n.Parents) == 0 {
		return
	}
	e.Parent, e.Side = n.Parents[side], SideName(side, n.Parents[side])
	e.IsMerge = len(n.Parents) > 1
}

// positionOf returns where the child's file shows the edit: at the first changed field or else at the entry. For a deleted entry it is the
// position that the entry would have.
func (e *LogChange) positionOf(x ledger.Edit) small.Pos {
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

// Finding begins the finding about one edit.
func (e *LogChange) Finding(x ledger.Edit) finding.Finding {
	pos := e.positionOf(x)
	f := finding.Finding{Path: e.Path, OldPath: e.OldPath, Line: pos.Line, Column: pos.Column, Changes: x.Changes, Waived: x.Waived, Moved: x.Kind == ledger.EditReordered}
	if x.OldIndex >= 0 {
		f.Entry = finding.RefOf(e.Old.Entries[x.OldIndex])
		f.EditFrom = f.Entry.Compared.String()
	}
	now := x.Reopened
	if x.NewIndex >= 0 {
		now = &e.New.Entries[x.NewIndex]
	}
	if now != nil {
		after := finding.RefOf(*now)
		f.EditTo = after.Compared.String()
		if f.Entry == nil {
			f.Entry = after
		} else {
			f.EntryAfter = after
		}
	}
	if x.Kind == ledger.EditDeleted {
		f.Whole = listFieldsLater(e.OldRecords, x.OldIndex, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(v, nil) })
	}
	f.Edits = []finding.EditKey{{Path: cmp.Or(e.OldPath, e.Path), From: f.EditFrom, To: f.EditTo}}
	return f
}

// NewEntryFinding begins the finding about a new entry.
func (e *LogChange) NewEntryFinding(index int) finding.Finding {
	return e.Finding(ledger.Edit{OldIndex: -1, NewIndex: index})
}

// InsertionFinding begins the finding about a new entry, and lists all its fields.
func (e *LogChange) InsertionFinding(index int) finding.Finding {
	f := e.NewEntryFinding(index)
	f.Whole = listFieldsLater(e.NewRecords, index, func(v *small.Value) []ledger.FieldChange { return ledger.FieldChanges(nil, v) })
	return f
}

// Before says in a message where an entry stands that comes before another in the ledger: in a log whose newest entries stand first it is below.
func (e *LogChange) Before() string {
	if stanza := e.Run.Source.Policy.LogFor(e.Path); stanza != nil && stanza.Form().NewestFirst {
		return "below"
	}
	return "before"
}

// InsertionKeys returns the keys of insertions, by which each is reported only once.
func (e *LogChange) InsertionKeys(indexes []int) []finding.EditKey {
	keys := make([]finding.EditKey, len(indexes))
	for i, index := range indexes {
		keys[i] = finding.EditKey{Path: e.Path, To: e.New.Entries[index].Digest.String()}
	}
	return keys
}

// maxFields is the largest number of changed fields that a message names.
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

// listFieldsLater returns a function that lists every field of one entry as a change. It reads the records only when it is called.
func listFieldsLater(records ledger.RecordsFunc, at int, changes func(*small.Value) []ledger.FieldChange) func() ([]ledger.FieldChange, error) {
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

// SideName names a parent of a merge, for messages. index counts the parents from 0.
func SideName(index int, id string) string {
	if index == 0 {
		return "our side (" + history.Short(id) + ")"
	}
	return "the merged side (" + history.Short(id) + ")"
}

// FamilyChange is the edge of a log that a family of rules reads: only the family's rules judge it.
type FamilyChange struct{ *LogChange }

// UnreadableLog is a child's log that cannot be read.
type UnreadableLog struct {
	rule.Place
	Run          *run.Run
	Path, Object string
	Problems     []small.Problem
	// ReadableBefore is true if the first parent has a file at Path, and this file or an earlier version of it can be read.
	ReadableBefore bool
}

// UsualFix returns the fix for an edit: it undoes the edit and keeps all other work; if others have the commit, it says how the edit is accepted.
func (e *LogChange) UsualFix() string {
	s := e.Situation()
	switch {
	case e.Fix != "":
		return e.Fix + e.approvalHint()
	case e.IsMerge && history.Uncommitted(s.Commit):
		if e.Run.Source.IsImmutableRecord(e.Path) {
			return e.PutBackFix() + ", " + wording.Commands(wording.FinishMerge)
		}
		if e.AddsInMerge && e.IsConfigured() { // reconcile refuses to drop the added entries
			return wording.Commands("small-hook restore"+remedy.InDirectory(e.Path), wording.FinishMerge)
		}
		return remedy.Reconcile
	case s.Standing == history.Landed:
		return e.PutBackFix() + s.WaiverHint() + e.approvalHint()
	case e.IsMerge || s.Standing != history.Own:
		return e.PutBackFix() + e.approvalHint()
	}
	return e.PutBackFix() + "; " + e.correctionHint() + e.approvalHint()
}

// maxSingleWaivers is the largest number of edits that are waived one by one; more are approved together.
const maxSingleWaivers = 2

// approvalHint returns the end of a fix if many entries of a configured log were changed or lost, or if commits have landed that did so in a folder of
// files: a person can approve the rewrite as a whole.
func (e *LogChange) approvalHint() string {
	s := e.Situation()
	switch {
	case !e.IsConfigured() || s.NoWaiver || e.isFileEntry() && (s.Standing != history.Landed || history.Uncommitted(s.Commit)):
		return ""
	case e.isFileEntry():
		return "; to approve what a commit did to the folder as a whole: small-hook waive --log " + wording.TopPath(path.Dir(e.Path))
	}
	edits := 0
	for _, x := range e.Edits {
		if edits > maxSingleWaivers {
			break
		}
		if x.OldIndex >= 0 && !x.Waived {
			edits++
		}
	}
	if edits <= maxSingleWaivers {
		return ""
	}
	return "; if the log is to be rewritten as a whole, a person approves that first: small-hook waive --log " + wording.TopPath(e.Path)
}

// UndoAndBeginRunFix returns the fix for entries after the end of their run: undo them, and begin a new run.
func (e *LogChange) UndoAndBeginRunFix() string {
	s := e.Situation()
	if e.Fix != "" || e.IsMerge || s.Standing != history.Own {
		return e.UsualFix()
	}
	dir, _, _ := small.SplitPath(e.Path)
	return remedy.BeginRun(dir, s.Commit, e.PutBackFix()+", ")
}

// correctionHint says, after a fix that undoes an edit, how to make a correction without an edit.
func (e *LogChange) correctionHint() string {
	switch {
	case e.isFileEntry():
		return "a correction is a new file"
	case !e.ParentHasNoLog:
		return "a correction is a new entry"
	}
	rule := "append-only/log-deleted"
	if f := e.Run.Source.Policy.FormatAt(e.Path); f != nil {
		rule = f.Rule
	}
	elsewhere := "this path had another log before: begin the new log in another directory"
	if e.Situation().NoWaiver {
		return elsewhere
	}
	if e.headOfOld == "" {
		e.headOfOld = e.Run.Source.Policy.LogFor(e.Path).Head(e.Old).String()
	}
	return elsewhere + ", or have a person waive " + rule + " from " + e.headOfOld
}

// RecordAgainFix returns the fix for a new entry that is dated too far ahead of now: the command of PutBackFix appends it again, with another time.
func (e *LogChange) RecordAgainFix() string {
	if e.Fix != "" {
		return e.Fix
	}
	return e.PutBackFix()
}

// PutBackFix returns the fix that brings the log's old entries back and keeps new ones after them.
func (e *LogChange) PutBackFix() string {
	s, at := e.Situation(), wording.TopPath(e.Path)
	from, source := "HEAD", ""
	if !history.Uncommitted(s.Commit) {
		from = history.Short(s.Commit) + "^"
	}
	switch {
	case s.Standing == history.Landed && e.IsConfigured() && s.Commit != "" && !history.Uncommitted(s.Commit):
		return s.AcceptSince()
	case s.Against != "":
		return wording.Commands(remedy.RestoreFrom(e.Path, history.Short(s.Against)))
	case e.ParentHasNoLog:
		source = fmt.Sprintf(`"$(git rev-list -n 1 %s -- %s)^"`, from, at) // the last commit that touched the log removed it
	}
	dir, _, _ := small.SplitPath(e.Path)
	switch all := small.InDir(dir, ""); {
	case source == "" && e.Run.Source.IsImmutableRecord(e.Path): // one command for all records of the workspace
		back := "small-hook restore" + remedy.InDirectory(all)
		if s.Standing == history.Landed && !history.Uncommitted(s.Commit) {
			const never = "Landed commits are never rewritten"
			if e.New.Len() > 0 {
				return never // to put the record back would be another edit
			}
			return never + ". The record comes back in a new commit: " + wording.Commands(remedy.RestoreFrom(e.Path, history.Short(e.Parent)))
		}
		return s.Undo(all, []string{back})
	case source == "" && e.isFileEntry() && e.IsConfigured(): // it keeps a copy of what is overwritten
		return s.Undo(e.Path, []string{"small-hook restore" + remedy.InDirectory(e.Path)}, e.Path)
	case e.isFamilyLog(), e.isFileEntry():
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

// CorrectFix returns the fix for a new entry; how says what to correct.
func (e *LogChange) CorrectFix(how string) string {
	if e.Fix != "" {
		return how
	}
	return e.Situation().CorrectEntry(how, e.Path, e.IsConfigured() && !e.isFileEntry() && !e.IsMerge && len(e.NewEntries) == 1)
}
