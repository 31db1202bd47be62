package walk

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// leases finds what an agent's commit did to the leases of others.
func (w *commitReader) leases(ctx context.Context, v *subject.CommitWork) error {
	planned := w.differs(small.Plan.Path(w.dir))
	if len(v.NewEntries) == 0 && !planned {
		return nil
	}
	agent, message, err := w.agentOf(ctx, w.commit.ID)
	if err != nil || agent == "" {
		return err
	}
	v.Agent, v.Contributors = agent, history.Contributors(message, w.Options.Policy.IsAgentTrailer)
	if v.ForeignLeases, err = w.foreignLeases(ctx, v); err != nil {
		return err
	}
	if planned {
		if v.DroppedLeases, err = w.droppedLeases(ctx, v); err != nil {
			return err
		}
	}
	if w.commit.ID == history.Index && len(v.NewEntries) > 0 {
		v.BranchOwner = history.BranchOwner(w.Options.Branch)
	}
	return nil
}

// droppedLeases finds the leases of other agents that every parent's plan has and the commit's has not, although
// the log's last entry, and so the commit's own, is of a time before they expire. A task that is gone, or whose
// lease cannot be read, is another rule's concern; so is one on which the commit records work.
func (w *commitReader) droppedLeases(ctx context.Context, v *subject.CommitWork) ([]subject.DroppedLease, error) {
	before, plan, err := w.plans(ctx)
	if err != nil || len(before) == 0 || plan == nil {
		return nil, err
	}
	file, err := w.now(ctx, small.Progress.Path(w.dir))
	if err != nil {
		return nil, err
	}
	log, err := w.Source.Ledgers.Read(ctx, file, nil)
	if err != nil || !log.Readable() || log.Log.Len() == 0 {
		return nil, err
	}
	last := log.Log.Entries[log.Log.Len()-1]
	tasks, order := subject.TasksOf(plan)
	var out []subject.DroppedLease
	for _, id := range order {
		was := before[0][id]
		now, malformed, _ := subject.LeaseOf(tasks[id].Value)
		if was == nil || malformed != "" || !was.Holds(last) || v.MadeBy(was.Agent) || now != nil && now.Agent == was.Agent || !heldBy(was.Agent, id, before) {
			continue
		}
		recorded := func(l subject.ForeignLease) bool { return l.Entry.TaskID == id }
		if !slices.ContainsFunc(v.ForeignLeases, recorded) {
			out = append(out, subject.DroppedLease{Task: tasks[id], Was: was, Now: now})
		}
	}
	return out, nil
}

// heldBy reports whether an agent has the lease of a task in all plans.
func heldBy(agent, task string, plans []map[string]*subject.Lease) bool {
	return !slices.ContainsFunc(plans, func(leases map[string]*subject.Lease) bool {
		return leases[task] == nil || leases[task].Agent != agent
	})
}

// plans are the leases in every parent's plan, and the commit's plan; nil if it cannot be read.
func (w *commitReader) plans(ctx context.Context) (before []map[string]*subject.Lease, plan *small.Value, err error) {
	path := small.Plan.Path(w.dir)
	file, err := w.now(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if plan, err = w.Source.Document(ctx, file); err != nil {
		return nil, nil, err
	}
	for i := range w.changes {
		old := plan
		if c, changed := w.change(i, path); changed {
			if old, err = w.Source.Document(ctx, c.Old); err != nil {
				return nil, nil, err
			}
		}
		before = append(before, subject.Leases(old))
	}
	return before, plan, nil
}

// foreignLeases finds the new entries for tasks whose unexpired lease belongs to
// an agent other than those whose commit it is. A lease that stood in a parent
// counts before one that the commit itself writes: nobody takes a task over by
// the commit that records work on it, and who hands one over may record the last
// of the work with that.
func (w *commitReader) foreignLeases(ctx context.Context, v *subject.CommitWork) ([]subject.ForeignLease, error) {
	if len(v.NewEntries) == 0 {
		return nil, nil
	}
	before, plan, err := w.plans(ctx)
	if err != nil {
		return nil, err
	}
	now := subject.Leases(plan)
	var out []subject.ForeignLease
	for _, e := range v.NewEntries {
		if l := leaseFor(e, before, now, v.MadeBy); l != nil && !v.MadeBy(l.Agent) {
			out = append(out, subject.ForeignLease{Entry: e, Lease: l})
		}
	}
	return out, nil
}

// leaseFor is the lease that counts for an entry; of several parents' leases, one of the agent's own.
func leaseFor(e ledger.Entry, before []map[string]*subject.Lease, now map[string]*subject.Lease, own func(agent string) bool) *subject.Lease {
	var found *subject.Lease
	for _, leases := range before {
		l := leases[e.TaskID]
		if l != nil && l.Holds(e) && (found == nil || own(l.Agent)) {
			found = l
		}
	}
	if l := now[e.TaskID]; found == nil && l != nil && l.Holds(e) {
		found = l
	}
	return found
}
