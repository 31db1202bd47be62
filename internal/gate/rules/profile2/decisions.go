package profile2

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// resolution is what an event says to settle a conflict.
type resolution struct {
	conflict, frontier string
	heads              []string
}

// A topic is the protocol's name for the kind of conflict, a line feed, and the task, if there is one.
const policyTopic = "policy_change\n"

// setDecision sets the event's topic and value, or its resolution.
func (e *event) setDecision(r *records.Record) {
	value := func(of ...any) string {
		text, err := json.Marshal(of)
		if err != nil {
			panic(fmt.Sprintf("profile2: a decoded value cannot be encoded: %v", err))
		}
		return string(text)
	}
	switch e.kind {
	case "task_transitioned":
		e.topic = "task_outcome\n" + r.Text("task_id")
		p := func(key string) any { return r.Value("payload", key) }
		e.value = value(p("status"), r.Value("policy_revision"), r.Value("source_digest"), p("evidence"), p("evidence_digests"))
	case "mode_changed":
		e.topic, e.value = "mode_change\n", value(r.Value("payload", "new_mode"))
	case "policy_changed":
		e.topic, e.value = policyTopic, value(r.Value("payload", "intent_digest"), r.Value("payload", "constraints_digest"))
		e.policy = map[string]string{}
		for _, a := range []small.Artifact{small.Intent, small.Constraints} {
			e.policy[policyFile(a)] = r.Text("payload", string(a)+"_digest")
		}
	case "ownership_claimed":
		e.topic, e.value = "ownership\n"+r.Text("task_id"), value(r.Value("payload", "owner_session"))
	case "ownership_taken_over":
		e.topic, e.value = "session_takeover\n"+r.Text("payload", "prior_session"), value(r.Value("payload", "owner_session"))
	case "conflict_resolved":
		e.resolution = &resolution{conflict: r.Text("payload", "conflict_id"), frontier: r.Text("payload", "expected_frontier"), heads: r.Texts("payload", "heads")}
	}
}

// checkDecisions adds a problem for each topic that two branches decided differently, neither having seen the other's event.
func (w *Workspace) checkDecisions(context.Context) error {
	if !w.whole || slices.ContainsFunc(w.problems, func(p problem) bool { return p.Kind == causal || p.Kind == fork }) {
		return nil
	}
	topics := map[string][]*event{}
	for _, e := range w.events {
		if e.topic != "" {
			topics[e.topic] = append(topics[e.topic], e)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		heads := lastOf(topics[topic])
		differ := func() bool {
			return slices.ContainsFunc(heads, func(e *event) bool { return e.value != heads[0].value })
		}
		if !differ() {
			continue
		}
		if heads = w.headsOf(heads); !differ() {
			continue
		}
		ids := idsOf(heads)
		id := "conflict_" + records.DigestOf([]byte(topic + "\n" + strings.Join(ids, "\n")))[:32]
		if w.isResolved(id, ids) {
			continue
		}
		kind, task, _ := strings.Cut(topic, "\n")
		if task != "" {
			task = " of " + task
		}
		w.problems = append(w.problems, problem{name: heads[len(heads)-1].name, Problem: small.Problem{
			Kind: decision, Pos: heads[len(heads)-1].fieldPos("payload"), Subject: id,
			Message: fmt.Sprintf("%s: %s%s was decided differently by events that do not know of each other: %s", id, kind, task, strings.Join(ids, ", ")),
			Hint:    wording.Commands("small reconcile --preview") + " shows what can be decided; then `small reconcile --apply`, and commit what it writes",
		}})
	}
	return nil
}

// lastOf returns the last of the events in each session.
func lastOf(events []*event) []*event {
	last := map[string]*event{}
	for _, e := range events {
		if known := last[e.session]; known == nil || known.sequence < e.sequence {
			last[e.session] = e
		}
	}
	return slices.Collect(maps.Values(last))
}

// headsOf returns those of the events, each of another session, that are no ancestors of any other, sorted by id.
func (w *Workspace) headsOf(heads []*event) []*event {
	slices.SortFunc(heads, func(a, b *event) int { return b.depth - a.depth })
	if len(heads) == 1 {
		return heads
	}
	least := heads[len(heads)-1].depth
	known := map[string]bool{}
	heads = slices.DeleteFunc(heads, func(e *event) bool { // deeper events come first, and only they can be descendants
		if known[e.id] {
			return true
		}
		w.reachFrom(known, e, func(e *event) []string {
			if e.depth <= least {
				return nil
			}
			return e.parentsOf()
		})
		return false
	})
	slices.SortFunc(heads, func(a, b *event) int { return strings.Compare(a.id, b.id) })
	return heads
}

// reachFrom adds to seen the ids of all events that repeated steps reach from one event, without that event itself.
func (w *Workspace) reachFrom(seen map[string]bool, from *event, step func(*event) []string) {
	next := step(from)
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if e := w.events[id]; e != nil && !seen[id] {
			seen[id] = true
			next = append(next, step(e)...)
		}
	}
}

// isResolved reports whether an event resolves a conflict: it names all heads, and its frontier is that of all events but itself, its
// descendants and rival resolutions.
func (w *Workspace) isResolved(conflict string, heads []string) bool {
	var rivals []*event
	for _, e := range w.events {
		if e.resolution != nil && e.resolution.conflict == conflict {
			rivals = append(rivals, e)
		}
	}
	if len(rivals) == 0 {
		return false
	}
	return slices.ContainsFunc(rivals, func(e *event) bool {
		if !slices.Equal(slices.Sorted(slices.Values(e.resolution.heads)), heads) {
			return false
		}
		without := map[string]bool{}
		w.reachFrom(without, e, func(e *event) []string { return w.after[e.id] })
		for _, rival := range rivals {
			without[rival.id] = true
		}
		return e.resolution.frontier == w.frontier(without)
	})
}

// frontier returns the protocol's digest over all events except some.
func (w *Workspace) frontier(without map[string]bool) string {
	if w.lines == nil {
		for id := range w.events {
			w.lines = append(w.lines, id+":")
		}
		slices.Sort(w.lines)
	}
	h := sha256.New()
	between := ""
	for _, line := range w.lines {
		if e := w.events[line[:len(line)-1]]; !without[e.id] {
			h.Write([]byte(between + line + e.digest))
			between = "\n"
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkPolicy compares the digests of the policy's files with those in the newest events that change the policy or, without such, in the profile.
func (w *Workspace) checkPolicy(ctx context.Context) error {
	if !w.whole || w.profile == nil {
		return nil
	}
	var changes []*event
	for _, e := range w.events {
		if e.topic == policyTopic {
			changes = append(changes, e)
		}
	}
	if len(changes) > 0 {
		changes = w.headsOf(lastOf(changes))
	}
	for _, a := range []small.Artifact{small.Intent, small.Constraints} {
		name := policyFile(a)
		by, wanted := records.ProfileFile, []string{w.profile.Text(string(a) + "_digest")}
		if len(changes) > 0 {
			by, wanted = "the event "+changes[0].id, nil
			for _, e := range changes {
				wanted = append(wanted, e.policy[name])
			}
		}
		got := "absent"
		if f, there := w.files[name]; there {
			data, err := w.read(ctx, name, f)
			if err != nil || data == nil {
				return err
			}
			got = records.DigestOf(data)
		}
		if slices.Contains(wanted, got) || slices.Contains(wanted, "") {
			continue
		}
		w.problems = append(w.problems, problem{name: name, Problem: small.Problem{
			Kind: policy, Subject: string(a),
			Message: fmt.Sprintf("the file's sha256 is %s; %s says %s: the policy changes only together with an event that says so", got, by, cmp.Or(wanted[0], "nothing")),
			Hint:    "put the file back as that revision has it, or record the change with the protocol's own program (`small policy --help`), and commit both together",
		}})
	}
	return nil
}

func idsOf(events []*event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.id
	}
	return out
}
