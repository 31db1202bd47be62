package walk

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// lostTasks finds the completed tasks that a commit drops from the plan or opens
// again, unless an entry of the same change reconciles plan and reality. That
// entry may come with the commit, or with a later one that is judged with it. A
// new run has a plan of its own.
func (w *commitReader) lostTasks(ctx context.Context, added []ledger.Entry) ([]subject.LostTask, error) {
	path := small.Plan.Path(w.dir)
	if !w.differs(path) {
		return nil, nil
	}
	candidates, err := w.reopened(ctx, path)
	if err != nil || len(candidates) == 0 || reconciles(added) {
		return nil, err
	}
	if same, err := w.sameReplay(ctx); err != nil || !same {
		return nil, err
	}
	log, err := w.log(ctx)
	if err != nil || log == nil {
		return nil, err
	}
	if w.Scope.Tip.ID != w.commit.ID {
		tip, err := w.Source.CachedWorkspace(ctx, w.Scope.Tip.ID, w.dir)
		if err != nil || reconciles(ledger.Since(tip.Ledger().Entries, log)) {
			return nil, err
		}
	}
	last := map[string]ledger.Entry{}
	for _, e := range log.Entries {
		if e.Status != "" {
			last[e.TaskID] = e
		}
	}
	var out []subject.LostTask
	for _, c := range candidates {
		if e, ok := last[c.Task]; ok && strings.EqualFold(e.Status, "completed") {
			c.Entry = e
			out = append(out, c)
		}
	}
	return out, nil
}

// run reports whether the log shows something of the run that the handoff names.
func (w *commitReader) run(ctx context.Context, shows func(log *ledger.Ledger, id string) bool) (bool, error) {
	log, err := w.log(ctx)
	if err != nil || log == nil {
		return false, err
	}
	handoff, err := w.now(ctx, small.Handoff.Path(w.dir))
	if err != nil {
		return false, err
	}
	id, err := w.replayIn(ctx, handoff)
	return id != "" && shows(log, id), err
}

// log is the workspace's log in the child; nil if it cannot be read.
func (w *commitReader) log(ctx context.Context) (*ledger.Ledger, error) {
	file, err := w.now(ctx, small.Progress.Path(w.dir))
	if err != nil {
		return nil, err
	}
	log, err := w.Source.Ledgers.Read(ctx, file, nil)
	if err != nil || !log.Readable() {
		return nil, err
	}
	return log.Log.Ledger, nil
}

func reconciles(entries []ledger.Entry) bool {
	for _, e := range entries {
		if e.TaskID == subject.ReconcilePlan {
			return true
		}
	}
	return false
}

// reopened are the tasks that every parent's plan has and the child's has not,
// or that every parent's calls completed and the child's does not.
func (w *commitReader) reopened(ctx context.Context, path string) ([]subject.LostTask, error) {
	var old []map[string]*subject.Task
	var order []string
	for i := range w.changes {
		c, _ := w.change(i, path)
		plan, err := w.Source.Document(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		tasks, ids := subject.TasksOf(plan)
		old, order = append(old, tasks), ids
	}
	file, err := w.now(ctx, path)
	if err != nil || file.Unmerged || file.Mode == "" {
		return nil, err
	}
	plan, err := w.Source.Document(ctx, file)
	if err != nil || plan == nil {
		return nil, err
	}
	now, _ := subject.TasksOf(plan)
	var out []subject.LostTask
	for _, id := range order {
		found := now[id]
		if !everyPlan(old, id, found != nil) || found != nil && found.Is("completed") {
			continue
		}
		c := subject.LostTask{Task: id, Dropped: found == nil, Status: "pending"}
		if found != nil {
			c.Pos = found.Pos
			if found.Status != "" {
				c.Status = found.Status
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// everyPlan reports whether all plans have a task and, if completed is set, call it completed.
func everyPlan(plans []map[string]*subject.Task, id string, completed bool) bool {
	for _, tasks := range plans {
		if tasks[id] == nil || completed && !tasks[id].Is("completed") {
			return false
		}
	}
	return len(plans) > 0
}
