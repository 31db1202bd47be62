package look

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Query selects entries by all of its fields. An empty field selects every entry.
type Query struct {
	// Tasks are patterns of task ids.
	Tasks []string
	// Status is the entries' status, and Run the beginning of a run's id.
	Status, Run string
	// By is a part of the author's name or address, or an agent's id; Agent is an agent's id.
	By, Agent string
	// Commit is the full id of the commit that added the entries; Text is a part of an entry's text.
	Commit, Text string
	// Since and Until are the limits for the entries' times: see [finding.Recorded.Instant]. An entry without any is not committed, and counts as one
	// of now.
	Since, Until time.Time
	// LastOfTask selects only the last entry of each task up to Until, if the other fields select it.
	LastOfTask bool
	// OldestFirst reverses the order. Most is the largest number of entries to return; 0 for all.
	OldestFirst bool
	Most        int
}

// pick returns the selected entries in order. describe fills in the commit of an entry and who made the entry. several is true if all come from
// more than one log. now is the time of an entry that has none and is not committed.
func (q *Query) pick(all []finding.Recorded, several bool, now time.Time, describe func(*finding.Recorded) error) ([]finding.Recorded, error) {
	if several || !q.Since.IsZero() || !q.Until.IsZero() {
		if err := describeTimeless(all, describe); err != nil {
			return nil, err
		}
	}
	instant := func(r *finding.Recorded) time.Time {
		if t, known := r.Instant(); known {
			return t
		}
		return now
	}
	if several {
		slices.SortStableFunc(all, func(a, b finding.Recorded) int {
			return cmp.Or(instant(&a).Compare(instant(&b)), cmp.Compare(a.Path, b.Path))
		})
	}
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(r finding.Recorded) bool {
		t := instant(&r)
		return t.Before(q.Since) || !q.Until.IsZero() && t.After(q.Until)
	})
	if q.LastOfTask {
		seen := map[[2]string]bool{}
		all = slices.DeleteFunc(all, func(r finding.Recorded) bool {
			key := [2]string{r.Path, r.TaskID}
			before := seen[key]
			seen[key] = true
			return before
		})
	}
	if q.OldestFirst {
		slices.Reverse(all)
	}
	out := []finding.Recorded{}
	for i := range all {
		r := &all[i]
		if q.Most > 0 && len(out) == q.Most {
			break
		}
		if !q.wants(r) {
			continue
		}
		if err := describe(r); err != nil {
			return nil, err
		}
		if (q.By == "" || r.By.Matches(q.By)) && (q.Agent == "" || r.By.Agent == q.Agent) {
			out = append(out, *r)
		}
	}
	return out, nil
}

// describeTimeless fills in the commits of the entries that have no time of their own.
func describeTimeless(all []finding.Recorded, describe func(*finding.Recorded) error) error {
	for i := range all {
		if _, known := all[i].Instant(); known {
			continue
		}
		if err := describe(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether all fields but By, Agent and the times select an entry.
func (q *Query) wants(r *finding.Recorded) bool {
	return (len(q.Tasks) == 0 || slices.ContainsFunc(q.Tasks, func(p string) bool { return p == r.TaskID || policy.MatchTask(p, r.TaskID) })) &&
		(q.Status == "" || strings.EqualFold(r.Status, q.Status)) &&
		strings.HasPrefix(strings.ToLower(r.ReplayID), strings.ToLower(q.Run)) &&
		(q.Commit == "" || r.Commit.ID == q.Commit) &&
		(q.Text == "" || strings.Contains(strings.ToLower(r.Value.Canonical()), strings.ToLower(q.Text)) || hasText(r.Value, strings.ToLower(q.Text)))
}

// hasText reports whether a key or a scalar in v contains a text. text is in lower case; the case in v does not matter.
func hasText(v *small.Value, text string) bool {
	return strings.Contains(strings.ToLower(v.Text), text) ||
		slices.ContainsFunc(v.Items, func(item *small.Value) bool { return hasText(item, text) }) ||
		slices.ContainsFunc(v.Fields, func(f small.Field) bool {
			return strings.Contains(strings.ToLower(f.Key), text) || hasText(f.Value, text)
		})
}
