package walk

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// foreignLeases finds the new entries for tasks whose unexpired lease belongs to
// an agent other than those whose commit it is. A lease that stood in a parent
// counts before one that the commit itself writes: nobody takes a task over by
// the commit that records work on it, and who hands one over may record the last
// of the work with that.
func (w *commitReader) foreignLeases(ctx context.Context, v *subject.CommitWork) ([]subject.ForeignLease, error) {
	path := small.Plan.Path(w.dir)
	file, err := w.now(ctx, path)
	if err != nil {
		return nil, err
	}
	plan, err := w.Source.Document(ctx, file)
	if err != nil {
		return nil, err
	}
	now := subject.Leases(plan)
	var before []map[string]*subject.Lease
	for i := range w.changes {
		c, changed := w.change(i, path)
		if !changed {
			before = append(before, now)
			continue
		}
		old, err := w.Source.Document(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		before = append(before, subject.Leases(old))
	}
	var out []subject.ForeignLease
	for _, e := range v.NewEntries {
		if l := leaseFor(e, before, now, v.Agent); l != nil && l.Agent != v.Agent {
			out = append(out, subject.ForeignLease{Entry: e, Lease: l})
		}
	}
	return out, nil
}

// leaseFor is the lease that counts for an entry; of several parents' leases, one of the agent's own.
func leaseFor(e ledger.Entry, before []map[string]*subject.Lease, now map[string]*subject.Lease, who string) *subject.Lease {
	var found *subject.Lease
	for _, leases := range before {
		l := leases[e.TaskID]
		if l != nil && l.Holds(e) && (found == nil || l.Agent == who) {
			found = l
		}
	}
	if l := now[e.TaskID]; found == nil && l != nil && l.Holds(e) {
		found = l
	}
	return found
}
