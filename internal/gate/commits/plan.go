package commits

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// UnreconciledPlan is lint/unreconciled-plan: the plan drops or reopens a task that the log calls completed.
var UnreconciledPlan = rule.New("lint/unreconciled-plan", finding.SeverityWarning, finding.StageHistory, rule.Reading(checkUnreconciledPlan))

// reconcilePlan is the task_id of an entry that explains why plan and log do not agree.
const reconcilePlan = "meta/reconcile-plan"

// checkUnreconciledPlan reports each lost task. If the run is over, one finding is enough, which says to begin a new run; it is left out if
// replay/stale says the same.
func checkUnreconciledPlan(ctx context.Context, w *Work, r *rule.Reporter) error {
	lost, err := findLostTasks(ctx, w)
	if err != nil || len(lost) == 0 {
		return err
	}
	over, err := w.logSays(ctx, (*ledger.Ledger).RunOver)
	if err != nil {
		return err
	}
	if over {
		if stale, err := findStaleChanges(ctx, w); err != nil || len(stale) > 0 {
			return err
		}
		lost = lost[:1]
	}
	for _, l := range lost {
		what := fmt.Sprintf("drops task %q", l.task)
		if !l.dropped {
			what = fmt.Sprintf("reopens task %q (%s)", l.task, l.status)
		}
		fix := reconcileFix(w, "the plan "+what) + "; better evidence says what became of the task"
		if over {
			fix = remedy.BeginRun(w.Dir, w.Commit, "")
		}
		r.Add(finding.Finding{
			Path: small.Plan.Path(w.Dir), Line: l.pos.Line, Column: l.pos.Column, Subject: "task " + l.task,
			Entry: finding.RefOf(l.entry), EditTo: l.entry.Digest.String(),
			Message: fmt.Sprintf("the plan %s, which progress calls completed: %s", what, ledger.Describe(l.entry)),
			Fix:     fix,
		})
	}
	return nil
}

// reconcileFix returns the fix that records why the plan no longer agrees with the log.
func reconcileFix(w *Work, evidence string) string {
	log := small.Progress.Path(w.Dir)
	return remedy.ThenCommit(w.Commit, "Reconcile the plan",
		"small-hook append"+remedy.InDirectory(log)+" --task "+reconcilePlan+" --status completed --evidence "+wording.ShellQuote(evidence), log)
}

// lostTask is a task that the log calls completed and the plan does not.
type lostTask struct {
	task    string
	dropped bool
	// pos and status are where the plan has the task, and its status there; empty if the task was dropped.
	pos    small.Pos
	status string
	// entry is the one that calls the task completed.
	entry ledger.Entry
}

// findLostTasks finds the completed tasks that a commit drops from the plan or reopens. It finds none if the commit, or a later one that is
// judged with it, adds a reconcile entry, or if a new run has begun, which has a plan of its own.
func findLostTasks(ctx context.Context, w *Work) ([]lostTask, error) {
	if !w.Differs(small.Plan.Path(w.Dir)) {
		return nil, nil
	}
	candidates, err := findDroppedOrReopened(ctx, w)
	if err != nil || len(candidates) == 0 || hasReconcileEntry(w.NewEntries) {
		return nil, err
	}
	if same, err := w.keepsReplayID(ctx); err != nil || !same {
		return nil, err
	}
	log, err := w.Log(ctx)
	if err != nil || log == nil {
		return nil, err
	}
	if tip := w.Run.Scope.Tip.ID; tip != w.Commit {
		last, _, err := w.Run.Source.Side(ctx, tip, w.Dir, nil)
		if err != nil || hasReconcileEntry(ledger.NotIn(last.Ledger().Entries, log)) {
			return nil, err
		}
	}
	last := map[string]ledger.Entry{}
	for _, e := range log.Entries {
		if e.Status != "" {
			last[e.TaskID] = e
		}
	}
	var out []lostTask
	for _, c := range candidates {
		if e, ok := last[c.task]; ok && strings.EqualFold(e.Status, "completed") {
			c.entry = e
			out = append(out, c)
		}
	}
	return out, nil
}

func hasReconcileEntry(entries []ledger.Entry) bool {
	return slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.TaskID == reconcilePlan })
}

// findDroppedOrReopened returns the tasks that every parent's plan has and the commit's plan lacks, and those that every parent's plan
// calls completed and the commit's plan does not. It returns none if the commit has no plan that can be read.
func findDroppedOrReopened(ctx context.Context, w *Work) ([]lostTask, error) {
	before, plan, err := w.Documents(ctx, small.Plan.Path(w.Dir))
	if err != nil || plan == nil {
		return nil, err
	}
	var old []map[string]*read.Task
	var order []string
	for _, p := range before {
		tasks, ids := read.TasksOf(p)
		old, order = append(old, tasks), ids
	}
	now, _ := read.TasksOf(plan)
	var out []lostTask
	for _, id := range order {
		found := now[id]
		lost := func(tasks map[string]*read.Task) bool {
			return tasks[id] != nil && (found == nil || tasks[id].Is("completed"))
		}
		if found != nil && found.Is("completed") || slices.ContainsFunc(old, func(tasks map[string]*read.Task) bool { return !lost(tasks) }) {
			continue
		}
		c := lostTask{task: id, dropped: found == nil}
		if found != nil {
			c.pos, c.status = found.Pos, cmp.Or(found.Status, "pending")
		}
		out = append(out, c)
	}
	return out, nil
}
