package subject

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Lease is an agent's claim on a task of the plan, for a time.
type Lease struct {
	Agent   string
	expires time.Time
	// Text is the expiry as written in the plan.
	Text string
}

// LeaseOf reads a task's lease. problem says what is wrong with an invalid one, and at is the wrong value. A task
// with none, or with an empty one, is free.
func LeaseOf(task *small.Value) (l *Lease, problem string, at *small.Value) {
	v := task.Get("lease")
	if saysNothing(v) {
		return nil, "", nil
	}
	if v.Kind != small.Map {
		return nil, fmt.Sprintf("the lease is %s; a mapping of agent_id and expires is expected", v.Kind), v
	}
	for _, f := range v.Fields {
		if f.Key != "agent_id" && f.Key != "expires" {
			return nil, fmt.Sprintf("unknown key %q in the lease; only agent_id and expires are allowed", f.Key), f.Value
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
	end, ok := ledger.ParseInstant(text)
	if !ok {
		return nil, fmt.Sprintf("the lease's expires %q is not an RFC 3339 time with a zone", text), expires
	}
	return &Lease{Agent: strings.TrimSpace(id), expires: end, Text: text}, "", nil
}

// saysNothing reports whether a value is absent, null or empty, or holds nothing but nulls.
func saysNothing(v *small.Value) bool {
	null := func(v *small.Value) bool { return v == nil || v.Kind == small.Null }
	return null(v) || v.Kind == small.String && strings.TrimSpace(v.Text) == "" ||
		(v.Kind == small.Map || v.Kind == small.List) &&
			!slices.ContainsFunc(v.Items, func(item *small.Value) bool { return !null(item) }) &&
			!slices.ContainsFunc(v.Fields, func(f small.Field) bool { return !null(f.Value) })
}

// Leases are a plan's leases by task.
func Leases(plan *small.Value) map[string]*Lease {
	out := map[string]*Lease{}
	for _, task := range tasksIn(plan) {
		if l, _, _ := LeaseOf(task.Value); task.Named && l != nil {
			out[task.ID] = l
		}
	}
	return out
}

// Holds reports whether the lease has not expired at the time of an entry. A time that cannot be read is another
// rule's concern.
func (l *Lease) Holds(e ledger.Entry) bool {
	t, ok := ledger.ParseInstant(e.Timestamp)
	return ok && t.Before(l.expires)
}
