package divergence

import (
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

func checkConcurrentAppend(t *logs.LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Diverged || t.Immutable {
		return
	}
	switch {
	case t.Stanza != nil && t.Stanza.Entries == policy.FileEntries:
		r.Add(t.BothAppendedFinding("recorded work", "entry", remedy.RenameOwn))
	case t.Stanza == nil || t.Unrelated: // otherwise git stops with a conflict by itself, and the merge that resolves it is judged
		r.Add(t.BothAppendedFinding("recorded work", "entry", t.MergeFix()))
	}
}

func checkLostEntry(e *logs.LogChange, r *rule.Reporter) {
	if !e.IsMerge {
		return
	}
	for _, x := range e.OfKind(ledger.EditDeleted) {
		f := e.Finding(x)
		f.Message = fmt.Sprintf("the merge lost %s of %s", ledger.Describe(e.Old.Entries[x.OldIndex]), e.Side)
		f.Fix = e.UsualFix()
		r.Add(f)
	}
}

func checkUnreconciled(e *logs.LogChange, r *rule.Reporter) {
	if !e.IsMerge || e.Reconciled() || !e.KeptOrder || len(e.Inserted) == 0 || e.IsConfigured() {
		return
	}
	f := e.NewEntryFinding(e.Inserted[0])
	f.Edits = e.InsertionKeys(e.Inserted)
	f.Message = fmt.Sprintf("the merge puts %s before entries of %s, and no %s entry makes that explicit: %s",
		wording.Count(len(e.Inserted), "entry"), e.Side, "meta/reconcile-merge", ledger.DescribeAll(ledger.Pick(e.New, e.Inserted)))
	f.Fix = e.UsualFix()
	r.Add(f)
}

func checkUnreconciledTips(t *logs.LogTips, r *rule.Reporter) {
	if t.Outcome != ledger.Unreconciled || t.Stanza != nil {
		return
	}
	f := t.Finding()
	inserter, other := t.HeadName, t.TargetName
	if t.InsertedByTarget {
		inserter, other = other, inserter
	}
	f.Message = fmt.Sprintf("%s has inserted %s, which %s lacks, before entries that both have, and no %s entry makes that explicit: %s",
		inserter, wording.Count(len(t.Inserted), "entry"), other, "meta/reconcile-merge", ledger.DescribeAll(t.Inserted))
	f.Fix = t.MergeFix()
	for _, e := range t.Inserted {
		f.Edits = append(f.Edits, finding.EditKey{Path: t.Path, To: e.Digest.String()})
	}
	r.Add(f)
}

func checkForkRun(v *read.Fork, r *rule.Reporter) {
	if !v.BothChanged(read.CurrentRun) {
		return
	}
	target, _ := read.CurrentRun(v.Target)
	head, _ := read.CurrentRun(v.Head)
	r.Add(finding.Finding{
		Path: small.Handoff.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s each started a run since they parted: %.12s… and %.12s…", v.TargetName, v.HeadName, target, head),
		Fix:     "let one run end before the other begins; or merge the branches, begin a new run after both, and write the handoff for it",
	})
}

func checkForkPlan(v *read.Fork, r *rule.Reporter) {
	if !v.BothChanged(read.CanonicalOf(small.Plan)) {
		return
	}
	r.Add(finding.Finding{
		Path: small.Plan.Path(v.Dir), Subject: "fork",
		Message: fmt.Sprintf("%s and %s both changed the plan since they parted", v.TargetName, v.HeadName),
		Fix:     "when you merge, decide which plan holds, and record the decision in a meta/reconcile-plan entry",
	})
}

// checkDoubleClaim reports a task on which both branches have recorded work.
func checkDoubleClaim(v *read.Fork, r *rule.Reporter) {
	onTarget := map[string]ledger.Entry{}
	copied := map[small.Digest]bool{} // one event, on both sides
	for _, d := range v.Duplicates {
		copied[d.Ours.Digest], copied[d.Theirs.Digest] = true, true
	}
	for _, e := range v.TargetOnly {
		if _, seen := onTarget[e.TaskID]; !seen && e.TaskID != "" && !copied[e.Digest] && !strings.HasPrefix(e.TaskID, ledger.MetaPrefix) {
			onTarget[e.TaskID] = e
		}
	}
	for _, e := range v.HeadOnly {
		other, both := onTarget[e.TaskID]
		if !both || copied[e.Digest] {
			continue
		}
		delete(onTarget, e.TaskID)
		r.Add(finding.Finding{
			Path: small.Progress.Path(v.Dir), Line: e.Pos.Line, Column: e.Pos.Column, Subject: "fork " + e.TaskID,
			Entry: finding.RefOf(other), EntryAfter: finding.RefOf(e),
			Message: fmt.Sprintf("task %q has work on both branches: %s on %s, %s on %s",
				e.TaskID, ledger.Describe(other), v.TargetName, ledger.Describe(e), v.HeadName),
			Fix: "review what each side did before you merge, and give each agent its own tasks",
		})
	}
}
