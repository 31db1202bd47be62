package logs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
)

// CompareTips compares the logs of the base and the tip as those of two branches.
func CompareTips(ctx context.Context, r *run.Run) error {
	return compareBranches(ctx, r, r.Scope.Base, r.Scope.Tip)
}

// CompareFork does what CompareTips does, unless the base descends from the tip or the tip from the base: then it does nothing.
func CompareFork(ctx context.Context, r *run.Run) error {
	base, tip := r.Scope.Base, r.Scope.Tip
	bases, err := r.Source.History.MergeBases(ctx, base.ID, tip.ID)
	if err != nil || slices.Contains(bases, base.ID) || slices.Contains(bases, tip.ID) {
		return err
	}
	return compareBranches(ctx, r, base, tip)
}

// compareBranches compares each log in which two branches differ, and then their workspaces.
func compareBranches(ctx context.Context, r *run.Run, target, head history.Tip) error {
	edge := history.Edge{Parent: target.ID, Child: head.ID}
	changes, err := r.Source.Changes(ctx, []history.Edge{edge})
	if err != nil {
		return err
	}
	pairs, err := r.Source.PairLogs(ctx, target.ID, head.ID, changes[0])
	if err != nil {
		return err
	}
	for _, p := range pairs {
		t, err := compareTipsOfLog(ctx, r, p, edge)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		t.Place = rule.Place{Commit: head.ID, Parent: target.ID}
		t.TargetName, t.HeadName = target.Name, head.Name
		t.Stanza, t.Immutable = r.Source.Policy.LogFor(t.Path), r.Source.IsImmutableRecord(t.Path)
		if t.Stanza != nil && t.Outcome == ledger.Diverged {
			bases, err := r.Source.History.MergeBases(ctx, target.ID, head.ID)
			if err != nil {
				return err
			}
			t.Unrelated = len(bases) == 0
		}
		t.MergeFix = func() string { return mergeFix(r, t, target, head) }
		var subject rule.Subject = t
		if r.Source.IsFamilyLog(t.Path) {
			subject = FamilyTips{t}
		}
		if err := r.Collector.Judge(ctx, subject); err != nil {
			return err
		}
	}
	if err := judgeTwinsOfTips(ctx, r, target, head, changes[0]); err != nil {
		return err
	}
	if err := judgeSessions(ctx, r, target, head, changes[0]); err != nil {
		return err
	}
	return judgeForks(ctx, r, target, head, changes[0])
}

// walkedFromTarget reports whether the head descends from the target and every commit between them was judged: the edges then say what became of
// the target's entries. For linear logs, which break no rule, the answer is false without a look.
func walkedFromTarget(ctx context.Context, r *run.Run, t *LogTips, edge history.Edge) (bool, error) {
	if t.Outcome == ledger.Linear || !r.Learned.Walked || r.Learned.UnrelatedLog {
		return false, nil
	}
	bases, err := r.Source.History.MergeBases(ctx, edge.Parent, edge.Child)
	return slices.Contains(bases, edge.Parent), err
}

// compareTipsOfLog compares one log at two tips; the result is nil if there is nothing to report.
func compareTipsOfLog(ctx context.Context, r *run.Run, pair [2]history.File, edge history.Edge) (*LogTips, error) {
	path := pair[1].Path
	logs := r.Source.ReaderOf(path)
	targetLog, err := logs.Read(ctx, pair[0], nil)
	if err != nil {
		return nil, err
	}
	headLog, err := logs.Read(ctx, pair[1], targetLog)
	if err != nil {
		return nil, err
	}
	if !targetLog.Readable() || !headLog.Readable() {
		return nil, nil // if a log is gone or cannot be read, that is reported on an edge
	}
	if settled, err := settledByRewrite(ctx, r, path, edge, targetLog, headLog); err != nil || settled {
		return nil, err
	}
	equal := r.Source.EquivalenceByWaivers(pair[0].Path, path)
	headToTarget, err := r.Source.EquivalenceOn(ctx, nil, path, pair[0].Path, headLog, targetLog)
	if err != nil {
		return nil, err
	}
	if headToTarget, err = r.Source.AcceptSince(ctx, headToTarget, edge.Child, []string{edge.Parent}, path, pair[0].Path, headLog, targetLog); err != nil {
		return nil, err
	}
	if headToTarget.Accepted != nil && len(ledger.Only(headLog.Log.Ledger, targetLog.Log.Ledger, headToTarget)) == 0 {
		return nil, nil // the head forked before the target's baseline, and has recorded nothing since then
	}
	if equal, err = r.Source.CompleteApprovals(ctx, equal, []string{edge.Parent, edge.Child}, path, targetLog, headLog, true); err != nil {
		return nil, err
	}
	if equal, err = r.Source.CompleteApprovals(ctx, equal, []string{edge.Parent, edge.Child}, path, headLog, targetLog, true); err != nil {
		return nil, err
	}
	t := &LogTips{Path: path, Divergence: ledger.Diverge(targetLog.Log.Ledger, headLog.Log.Ledger, equal, r.Collector.EditedEntries(path, false))}
	if walked, err := walkedFromTarget(ctx, r, t, edge); err != nil || walked {
		return nil, err
	}
	if r.Scope.Predicts && t.LinearWithout(r.Collector.EditedEntries(path, true), equal) {
		return nil, nil
	}
	return t, nil
}

// JudgeSides judges the changes of logs on each side of a predicted merge since the merge bases, as one step.
func JudgeSides(ctx context.Context, r *run.Run) error {
	bases, err := r.Source.History.MergeBases(ctx, r.Scope.Base.ID, r.Scope.Tip.ID)
	if err != nil {
		return err
	}
	for _, side := range []history.Tip{r.Scope.Base, r.Scope.Tip} {
		for _, base := range bases {
			if err := judgeSide(ctx, r, base, side); err != nil {
				return err
			}
		}
	}
	return nil
}

// setSideFix sets the fix of a merge that loses entries where no command combines its sides. If both added a file of one name, one has to get another name.
// If the merge is on no branch yet, and one side had lost entries before, the log on that side has to be mended first.
func setSideFix(ctx context.Context, r *run.Run, s *read.Step, path string, parents []read.ParentLog, edges []*LogChange) error {
	loses := func(x ledger.Edit) bool { return x.OldIndex >= 0 && !x.Waived }
	if len(parents) < 2 || !slices.ContainsFunc(edges, func(e *LogChange) bool { return slices.ContainsFunc(e.Edits, loses) }) {
		return nil
	}
	pending := history.Uncommitted(s.ID)
	fix, err := sideFix(ctx, r, path, parents, pending || r.Scope.Fix != "")
	if errors.Is(err, history.ErrLacking) { // in a shallow clone the fix stays as it is: everything else can be judged
		return nil
	}
	if err != nil || fix == "" {
		return err
	}
	if pending {
		fix = wording.Commands(wording.AbortMerge) + "; " + fix
	}
	for _, e := range edges {
		e.Fix = fix
	}
	return nil
}

// sideFix returns the fix that setSideFix sets; empty if the usual one does. onNoBranch is true if the merge is on no branch yet.
func sideFix(ctx context.Context, r *run.Run, path string, parents []read.ParentLog, onNoBranch bool) (string, error) {
	if r.Source.IsFileEntry(path) && !r.Source.IsImmutableRecord(path) {
		if both, err := addedOnBothSides(ctx, r, path, parents); err != nil || both {
			return remedy.RenameOwn, err
		}
	}
	if !onNoBranch {
		return "", nil
	}
	side, err := findUnsoundSide(ctx, r, path, parents)
	if err != nil || side == "" {
		return "", err
	}
	return mendSideFix(history.Short(side), "audit", history.Short(side)), nil
}

// addedOnBothSides reports whether two parents of a merge have different files at a path at which no merge base has one.
func addedOnBothSides(ctx context.Context, r *run.Run, path string, parents []read.ParentLog) (bool, error) {
	files := map[string]bool{}
	for _, p := range parents {
		for _, l := range p.Ledgers {
			files[l.File.Object] = true
		}
	}
	if len(files) < 2 {
		return false, nil
	}
	for _, other := range parents[1:] {
		bases, err := r.Source.History.MergeBases(ctx, parents[0].ID, other.ID)
		if err != nil {
			return false, err
		}
		for _, base := range bases {
			if old, err := r.Source.LogAt(ctx, base, path); err != nil || old != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// mendSideFix returns the fix for a merge of which one side has itself lost recorded entries. command is the small-hook command that judges revision,
// and so shows which commit lost them.
func mendSideFix(side, command, revision string) string {
	return "mend the log on " + wording.ShellWord(side) + " before you merge; see which commit changed it, and what to do: " + wording.Commands("small-hook "+command+" "+wording.ShellWord(revision))
}

// findUnsoundSide returns the first parent of a merge whose log has not kept the entries of a merge base; empty if there is none.
func findUnsoundSide(ctx context.Context, r *run.Run, path string, parents []read.ParentLog) (string, error) {
	comparer := read.NewLogComparer(r.Source.Policy, path, r.Source.Now)
	for _, other := range parents[1:] {
		bases, err := r.Source.History.MergeBases(ctx, parents[0].ID, other.ID)
		if err != nil {
			return "", err
		}
		for _, base := range bases {
			old, err := r.Source.LogAt(ctx, base, path)
			if err != nil {
				return "", err
			}
			if !old.Readable() {
				continue
			}
			for _, side := range []read.ParentLog{parents[0], other} {
				for _, log := range side.Ledgers {
					if !comparer.Keeps(old.Log.Ledger, log.Log.Ledger) && !comparer.BeginsWithBaseline(log.Log.Ledger) {
						return side.ID, nil
					}
				}
			}
		}
	}
	return "", nil
}

// judgeSide judges the changes of logs on one side of a predicted merge since one merge base, as one step.
func judgeSide(ctx context.Context, r *run.Run, base string, side history.Tip) error {
	if base == side.ID {
		return nil
	}
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: base, Child: side.ID}})
	if err != nil {
		return err
	}
	s, err := r.Source.StepBetween(ctx, history.Commit{ID: side.ID, Parents: []string{base}}, changes, true, nil)
	if err != nil {
		return err
	}
	s.Branch = side.Name
	for _, c := range changes[0] {
		if !r.Source.IsLog(c.Path) {
			continue
		}
		s.Fix = func(path string) string {
			if r.Source.Policy.LogFor(path) != nil { // each commit by itself may be right
				return mendSideFix(side.Name, "range", history.Short(base)+".."+side.Name)
			}
			return mendSideFix(side.Name, "audit", side.Name)
		}
		if err := judgeReplacedLog(ctx, r, c, s, true, nil); err != nil {
			return err
		}
	}
	return nil
}

// mergeFix returns the fix that merges the target of a range into its head, or the second branch of a prediction into the first. A log that a commit of
// the head has changed is mended first, since reconcile refuses it, and so is a log of SMALL whose new entries are not in the order of time.
func mergeFix(r *run.Run, t *LogTips, target, head history.Tip) string {
	if !r.Scope.Predicts {
		if rejectsCommit(r, target.ID, r.Source.IsLog) || t.Stanza == nil && disordered(t.Head, t.HeadOnly) {
			return remedy.MendFirst
		}
		return r.OnBranch(remedy.MergeCommands(target.Name)...)
	}
	name := head.Name
	if strings.HasPrefix(name, "HEAD") || strings.HasPrefix(name, "@") {
		name = history.Short(head.ID) // HEAD is another commit once the other branch is checked out
	}
	return remedy.MergeWith(name)
}

// disordered reports whether one of some entries of a log of SMALL is not later than the entry before it. That is a finding of its own.
func disordered(log *ledger.Ledger, some []ledger.Entry) bool {
	among := ledger.DigestSet(&ledger.Ledger{Entries: some})
	var before time.Time
	for _, e := range log.Entries {
		at, ok := ledger.ParseTimestamp(e.Timestamp)
		switch {
		case !ok:
		case among[e.Digest] && !at.After(before):
			return true
		default:
			before = at
		}
	}
	return false
}

// rejectsCommit reports whether an error about a log that matches says what a commit has changed, and not only how the tip differs from the revision from.
func rejectsCommit(r *run.Run, from string, matches func(path string) bool) bool {
	return slices.ContainsFunc(r.Collector.Report.Findings, func(f finding.Finding) bool {
		return f.Severity == finding.SeverityError && f.Commit != "" && (f.Commit != r.Scope.Tip.ID || f.Parent != from) && matches(f.Path)
	})
}
