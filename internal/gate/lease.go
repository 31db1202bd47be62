package gate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/small"
)

// lease is an agent's claim on a task of the plan, for a time.
type lease struct {
	agent   string
	expires time.Time
	// text is the end as it stands in the plan.
	text string
}

// leaseOf reads a task's lease. problem says what is wrong with one that is no
// lease, and at is the value that is wrong. A task without one, or with null
// for it, is free.
func leaseOf(task *small.Value) (l *lease, problem string, at *small.Value) {
	v := task.Get("lease")
	if v == nil || v.Kind == small.Null {
		return nil, "", nil
	}
	if v.Kind != small.Map {
		return nil, fmt.Sprintf("the lease is %s; a mapping of agent_id and expires is expected", v.Kind), v
	}
	for _, f := range v.Fields {
		if f.Key != "agent_id" && f.Key != "expires" {
			return nil, fmt.Sprintf("the lease has the key %q; agent_id and expires are all that it may have", f.Key), f.Value
		}
	}
	agent := v.Get("agent_id")
	id, ok := agent.Str()
	switch {
	case agent == nil:
		return nil, "the lease has no agent_id", v
	case !ok:
		return nil, fmt.Sprintf("the lease's agent_id is %s; a string is expected: quote it", agent.Kind), agent
	case strings.TrimSpace(id) == "":
		return nil, "the lease's agent_id is blank", agent
	}
	expires := v.Get("expires")
	text, ok := expires.Str()
	switch {
	case expires == nil:
		return nil, "the lease has no expires", v
	case !ok:
		return nil, fmt.Sprintf("the lease's expires is %s; a string is expected: quote it", expires.Kind), expires
	}
	end, ok := parseInstant(text)
	if !ok {
		return nil, fmt.Sprintf("the lease's expires is %q, and that is no RFC 3339 time with a zone", text), expires
	}
	return &lease{agent: strings.TrimSpace(id), expires: end, text: text}, "", nil
}

// leases are a plan's leases by task.
func leases(plan *small.Value) map[string]*lease {
	out := map[string]*lease{}
	for _, task := range tasksIn(plan) {
		if l, _, _ := leaseOf(task.Value); task.named && l != nil {
			out[task.id] = l
		}
	}
	return out
}

// holds reports whether the lease has not expired at the time of an entry. An
// entry whose time cannot be read is another rule's concern.
func (l *lease) holds(e small.Entry) bool {
	t, ok := parseInstant(e.Timestamp)
	return ok && t.Before(l.expires)
}

// foreignLease is an entry for a task that another agent has leased.
type foreignLease struct {
	entry small.Entry
	lease *lease
}

// foreignLeases finds the new entries for tasks whose unexpired lease belongs to
// an agent other than those whose commit it is. A lease that stood in a parent
// counts before one that the commit itself writes: nobody takes a task over by
// the commit that records work on it, and who hands one over may record the last
// of the work with that.
func (w *worker) foreignLeases(ctx context.Context, v *CommitWork) ([]foreignLease, error) {
	path := small.Plan.Path(w.dir)
	file, err := w.now(ctx, path)
	if err != nil {
		return nil, err
	}
	plan, err := w.src.root(ctx, file)
	if err != nil {
		return nil, err
	}
	now := leases(plan)
	var before []map[string]*lease
	for i := range w.changes {
		c, changed := w.change(i, path)
		if !changed {
			before = append(before, now)
			continue
		}
		old, err := w.src.root(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		before = append(before, leases(old))
	}
	var out []foreignLease
	for _, e := range v.fresh {
		if l := inForce(e, before, now, v.agent); l != nil && l.agent != v.agent {
			out = append(out, foreignLease{e, l})
		}
	}
	return out, nil
}

// inForce is the lease that counts for an entry; of several parents' leases one
// of the agent's own.
func inForce(e small.Entry, before []map[string]*lease, now map[string]*lease, who string) *lease {
	var found *lease
	for _, leases := range before {
		l := leases[e.TaskID]
		if l != nil && l.holds(e) && (found == nil || l.agent == who) {
			found = l
		}
	}
	if l := now[e.TaskID]; found == nil && l != nil && l.holds(e) {
		found = l
	}
	return found
}
