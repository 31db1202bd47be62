package gate

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// reconcilePlan is the task_id of the entry that brings plan and reality
// together.
const reconcilePlan = "meta/reconcile-plan"

// lostWork is a task that progress calls completed and the plan does not any
// more.
type lostWork struct {
	task  string
	entry small.Entry // which calls it completed
	// pos is the task's place in the plan; the zero place where it is gone.
	pos small.Pos
	// status is what the plan says now; gone is true where it says nothing.
	status string
	gone   bool
}

// lostWork finds the completed tasks that a commit drops from the plan or opens
// again, unless an entry of the same change reconciles plan and reality: one of
// the commit's own, or of a later one that is judged with it.
func (w *worker) lostWork(ctx context.Context, fresh []small.Entry) ([]lostWork, error) {
	path := small.Plan.Path(w.dir)
	if !w.differs(path) {
		return nil, nil
	}
	candidates, err := w.reopened(ctx, path)
	if err != nil || len(candidates) == 0 || reconciles(fresh) {
		return nil, err
	}
	file, err := w.now(ctx, small.Progress.Path(w.dir))
	if err != nil {
		return nil, err
	}
	log, err := w.src.ledgers.read(ctx, file, nil)
	if err != nil || !log.readable() {
		return nil, err
	}
	if w.scope.tip.ID != w.commit.ID {
		tip, err := w.src.workspaceOnce(ctx, w.scope.tip.ID, w.dir)
		if err != nil || reconciles(since(tip.ledger().Entries, log.log.Ledger)) {
			return nil, err
		}
	}
	last := map[string]small.Entry{}
	for _, e := range log.log.Entries {
		if e.Status != "" {
			last[e.TaskID] = e
		}
	}
	var out []lostWork
	for _, c := range candidates {
		if e, ok := last[c.task]; ok && strings.EqualFold(e.Status, "completed") {
			c.entry = e
			out = append(out, c)
		}
	}
	return out, nil
}

func reconciles(entries []small.Entry) bool {
	for _, e := range entries {
		if e.TaskID == reconcilePlan {
			return true
		}
	}
	return false
}

// reopened are the tasks that every parent's plan has and the child's has not,
// or that every parent's calls completed and the child's does not.
func (w *worker) reopened(ctx context.Context, path string) ([]lostWork, error) {
	var old []map[string]*task
	var order []string
	for i := range w.changes {
		c, _ := w.change(i, path)
		plan, err := w.src.root(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		tasks, ids := tasksOf(plan)
		old, order = append(old, tasks), ids
	}
	file, err := w.now(ctx, path)
	if err != nil || file.Unmerged || file.Mode == "" {
		return nil, err
	}
	plan, err := w.src.root(ctx, file)
	if err != nil || plan == nil {
		return nil, err
	}
	now, _ := tasksOf(plan)
	var out []lostWork
	for _, id := range order {
		found := now[id]
		if !everyPlan(old, id, found != nil) || found != nil && found.is("completed") {
			continue
		}
		c := lostWork{task: id, gone: found == nil, status: "pending"}
		if found != nil {
			c.pos = found.Pos
			if found.status != "" {
				c.status = found.status
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// everyPlan reports whether all plans have a task, and call it completed if that
// is asked for.
func everyPlan(plans []map[string]*task, id string, completed bool) bool {
	for _, tasks := range plans {
		if tasks[id] == nil || completed && !tasks[id].is("completed") {
			return false
		}
	}
	return len(plans) > 0
}

// tasksOf are a plan's tasks by id, and the ids in order.
func tasksOf(plan *small.Value) (map[string]*task, []string) {
	tasks := map[string]*task{}
	var order []string
	for _, t := range tasksIn(plan) {
		if t.named && tasks[t.id] == nil {
			tasks[t.id] = &t
			order = append(order, t.id)
		}
	}
	return tasks, order
}
