package look

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
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
	// Since and Until are the limits for the entries' own times.
	Since, Until time.Time
	// LastOfTask selects only the last entry of each task up to Until, if the other fields select it.
	LastOfTask bool
	// OldestFirst reverses the order. Most is the largest number of entries to return; 0 for all.
	OldestFirst bool
	Most        int
}

// pick returns the selected entries in order. describe fills in who made an entry. several is true if all come from more than one log.
func (q *Query) pick(all []finding.Recorded, several bool, describe func(*finding.Recorded) error) ([]finding.Recorded, error) {
	if several {
		slices.SortStableFunc(all, func(a, b finding.Recorded) int {
			return cmp.Or(instant(&a).Compare(instant(&b)), cmp.Compare(a.Path, b.Path))
		})
	}
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(r finding.Recorded) bool { return !q.inTime(&r) })
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

func instant(r *finding.Recorded) time.Time {
	t, _ := ledger.ParseInstant(r.Timestamp)
	return t
}

// inTime reports whether an entry's time is between Since and Until. A time that cannot be read is not, if there is a limit.
func (q *Query) inTime(r *finding.Recorded) bool {
	if q.Since.IsZero() && q.Until.IsZero() {
		return true
	}
	t, ok := ledger.ParseInstant(r.Timestamp)
	return ok && !t.Before(q.Since) && (q.Until.IsZero() || !t.After(q.Until))
}

// wants reports whether all fields but By, Agent and the times select an entry.
func (q *Query) wants(r *finding.Recorded) bool {
	return (len(q.Tasks) == 0 || slices.ContainsFunc(q.Tasks, func(p string) bool { return p == r.TaskID || policy.MatchTask(p, r.TaskID) })) &&
		(q.Status == "" || strings.EqualFold(r.Status, q.Status)) &&
		strings.HasPrefix(strings.ToLower(r.ReplayID), strings.ToLower(q.Run)) &&
		(q.Commit == "" || r.Commit.ID == q.Commit) &&
		(q.Text == "" || strings.Contains(strings.ToLower(r.Value.Canonical()), strings.ToLower(q.Text)))
}
