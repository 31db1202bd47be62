package logs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// LogTips is one log on two branches: the head is to be merged into the target.
type LogTips struct {
	rule.Place
	*ledger.Divergence
	Path                 string
	TargetName, HeadName string
	// Merge is the branch to merge into the checked-out one.
	Merge string
	// Log is the stanza of a configured log; nil for others.
	Log *policy.Log
	// Unrelated is true if a configured log diverged on branches that share no commit: git merges nothing there, and so nothing is judged later.
	Unrelated bool
	// Immutable is true for a file of 2.0.0 that never changes.
	Immutable bool
}

// Finding begins a finding at the head's first own entry.
func (t *LogTips) Finding() finding.Finding {
	f := finding.Finding{Path: t.Path, EditFrom: t.Log.Head(t.Target).String(), EditTo: t.Log.Head(t.Head).String()}
	own := t.HeadOnly
	if len(own) == 0 {
		own = t.Inserted
	}
	if len(own) > 0 {
		f.Line, f.Column = own[0].Pos.Line, own[0].Pos.Column
		f.Entry = finding.RefOf(own[0])
	}
	return f
}

// ConcurrentAppend is divergence/concurrent-append: two branches both appended to one log.
var ConcurrentAppend = rule.New("divergence/concurrent-append", finding.SeverityError, finding.StageHistory, rule.On(checkConcurrentAppend), rule.On(checkNeighbour))

func checkConcurrentAppend(t *LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Diverged || t.Immutable {
		return
	}
	if t.Log != nil && t.Log.Entries != policy.FileEntries && !t.Unrelated { // git itself stops, and the merge is judged
		return
	}
	r.Add(t.Appended("recorded work", "entry", remedy.MergeWith(t.Merge)))
}

// Appended is the finding that both sides appended to the log: what says what they did, noun what they appended.
func (t *LogTips) Appended(what, noun, fix string) finding.Finding {
	f := t.Finding()
	f.Common = finding.CommonOf(t.Target, t.TargetOnly)
	f.Sides = []finding.Side{{Name: t.TargetName, Entries: finding.RefsOf(t.TargetOnly)}, {Name: t.HeadName, Entries: finding.RefsOf(t.HeadOnly)}}
	f.Fix = fix
	f.Message = fmt.Sprintf("both branches %s since they parted: %s has %s (%s); %s has %s (%s)", what,
		t.TargetName, wording.Count(len(t.TargetOnly), noun), ledger.DescribeAll(t.TargetOnly),
		t.HeadName, wording.Count(len(t.HeadOnly), noun), ledger.DescribeAll(t.HeadOnly))
	if len(t.TargetOnly) == 0 && len(t.HeadOnly) == 0 {
		f.Message = fmt.Sprintf("%s and %s hold the same %s in different orders", t.TargetName, t.HeadName, wording.Plural(noun))
	}
	return f
}

// FamilyTips are a log that a family reads, on two branches: only the family's rules judge it.
type FamilyTips struct{ *LogTips }

// LostEntry is divergence/lost-entry: a merge lost an entry of one side.
var LostEntry = rule.New("divergence/lost-entry", finding.SeverityError, finding.StageHistory, rule.On(checkLostEntry)).Of(ledger.EntryLost)

func checkLostEntry(e *LogChange, r *rule.Reporter) {
	if !e.Merge {
		return
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", ledger.Describe(e.Old.Entries[x.OldIndex]), e.Side)
		f.Fix = e.Undo()
		r.Add(f)
	}
}

// Unreconciled is divergence/unreconciled: two sides' entries were interleaved and no reconcile entry says so.
var Unreconciled = rule.New("divergence/unreconciled", finding.SeverityError, finding.StageHistory, rule.On(checkUnreconciled), rule.On(checkUnreconciledTips))

func checkUnreconciled(e *LogChange, r *rule.Reporter) {
	if !e.Merge || e.Reconciled() || len(e.Inserted) == 0 || e.plain() {
		return
	}
	f := e.Finding(ledger.Edit{Kind: ledger.EditInserted, OldIndex: -1, NewIndex: e.Inserted[0]})
	f.Edits = insertionKeys(e, e.Inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		wording.Count(len(e.Inserted), "entry"), e.Side, "meta/reconcile-merge", ledger.DescribeAll(ledger.Pick(e.New, e.Inserted)))
	f.Fix = e.Undo()
	r.Add(f)
}

func checkUnreconciledTips(t *LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Unreconciled || t.Log != nil {
		return
	}
	f := t.Finding()
	whose, before := t.HeadName, t.TargetName
	if t.InsertedByTarget {
		whose, before = before, whose
	}
	f.Message = fmt.Sprintf("%s has %s that %s lacks before entries that both have, and no %s entry makes that explicit: %s",
		whose, wording.Count(len(t.Inserted), "entry"), before, "meta/reconcile-merge", ledger.DescribeAll(t.Inserted))
	f.Fix = remedy.MergeWith(t.Merge)
	for _, e := range t.Inserted {
		f.Edits = append(f.Edits, finding.EditKey{Path: t.Path, To: e.Digest.String()})
	}
	r.Add(f)
}

// compareForks compares two branches since their merge bases. changed are the paths that differ between their tips.
func compareForks(ctx context.Context, r *run.Run, target, head history.Tip, changed []history.Change) error {
	dirs := map[string]bool{}
	for _, c := range changed {
		if dir, _, ok := small.SplitPath(c.Path); ok && r.Options.Policy.Judges(dir) && c.Old.Mode != "" && c.New.Mode != "" {
			dirs[dir] = true
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
	if err != nil || len(bases) == 0 || slices.Contains(bases, target.ID) || slices.Contains(bases, head.ID) {
		return err
	}
	for _, dir := range run.SortedKeys(dirs) {
		v, err := r.Source.ForkOf(ctx, dir, target.ID, head.ID, bases)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		v.Place = rule.Place{Commit: head.ID, Parent: target.ID}
		v.TargetName, v.HeadName, v.Predicts = target.Name, head.Name, r.Scope.Predicts
		if err := r.Collector.Judge(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// ForkRun is divergence/run: two branches both started a new run.
var ForkRun = rule.New("divergence/run", finding.SeverityError, finding.StageHistory, rule.On(checkForkRun))

func checkForkRun(v *read.Fork, r *rule.Reporter) {
	if !v.BothChanged(read.CurrentRun) {
		return
	}
	target, _ := read.CurrentRun(v.Target)
	head, _ := read.CurrentRun(v.Head)
	r.Add(finding.Finding{
		Path: small.Handoff.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s each started a run since they parted: %.12s… and %.12s…", v.TargetName, v.HeadName, target, head),
		Fix:     "let one run end before the other begins; or merge explicitly, and regenerate the handoff for a run that follows both",
	})
}

// ForkPlan is divergence/plan: two branches both changed the plan.
var ForkPlan = rule.New("divergence/plan", finding.SeverityWarning, finding.StageHistory, rule.On(checkForkPlan))

func checkForkPlan(v *read.Fork, r *rule.Reporter) {
	if !v.BothChanged(read.CanonicalOf(small.Plan)) {
		return
	}
	severity := finding.SeverityWarning
	if v.Predicts {
		severity = finding.SeverityError
	}
	r.Add(finding.Finding{
		Severity: severity,
		Path:     small.Plan.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s both changed the plan since they parted", v.TargetName, v.HeadName),
		Fix:     "when you merge, decide which plan holds, and record the decision in a meta/reconcile-plan entry",
	})
}

// DoubleClaim is divergence/double-claim: two branches both recorded work on the same task.
var DoubleClaim = rule.New("divergence/double-claim", finding.SeverityWarning, finding.StageHistory, rule.On(checkDoubleClaim))

func checkDoubleClaim(v *read.Fork, r *rule.Reporter) {
	claimed := map[string]ledger.Entry{}
	copied := map[small.Digest]bool{} // one event, on both sides
	for _, pair := range v.Duplicates {
		copied[pair[0].Digest], copied[pair[1].Digest] = true, true
	}
	for _, e := range v.TargetOnly {
		if _, seen := claimed[e.TaskID]; !seen && e.TaskID != "" && !copied[e.Digest] && !strings.HasPrefix(e.TaskID, ledger.MetaPrefix) {
			claimed[e.TaskID] = e
		}
	}
	for _, e := range v.HeadOnly {
		other, both := claimed[e.TaskID]
		if !both || copied[e.Digest] {
			continue
		}
		delete(claimed, e.TaskID)
		r.Add(finding.Finding{
			Path: small.Progress.Path(v.Dir), Line: e.Pos.Line, Column: e.Pos.Column, Subject: "fork " + e.TaskID,
			Entry: finding.RefOf(other), EntryAfter: finding.RefOf(e),
			Message: fmt.Sprintf("task %q has work on both branches: %s on %s, %s on %s",
				e.TaskID, ledger.Describe(other), v.TargetName, ledger.Describe(e), v.HeadName),
			Fix: "review what each side did before you merge, and give each agent its own tasks",
		})
	}
}
