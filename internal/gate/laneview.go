package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// laneView is what rules about lanes read.
type laneView struct {
	state *laneState
	// report is nil where no lane is claimed.
	report *LaneReport
	// logs are the logs that the change adds to.
	logs []laneLog
}

// laneLog is what a change adds to one log.
type laneLog struct {
	path    string
	entries []small.Entry
}

// log is the path of the log in which something is to be recorded.
func (v *laneView) log() string {
	if len(v.logs) > 0 {
		return v.logs[0].path
	}
	return small.Progress.Path("")
}

// laneLogs finds the entries that the change brings, in the order of its logs:
// those that no base has.
func (j *judgement) laneLogs(ctx context.Context) ([]laneLog, error) {
	if !j.lane.ends && len(j.lane.switches) == 0 {
		return nil, nil // nothing is asked of them
	}
	edges := EdgesOf(j.lane.head, j.lane.bases)
	changes, err := j.history.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	var out []laneLog
	for _, c := range changes[0] {
		if !isLedger(c.Path) || !j.judges(c.Path) || c.New.Mode == "" {
			continue
		}
		now, err := j.ledgers.read(ctx, c.New, nil)
		if err != nil {
			return nil, err
		}
		if !now.readable() {
			continue // that is a finding of its own
		}
		known := map[small.Digest]bool{}
		for _, edge := range changes {
			i := slices.IndexFunc(edge, func(other Change) bool { return other.Path == c.Path })
			before := now.file
			if i >= 0 {
				before = edge[i].Old
			}
			old, err := j.ledgers.read(ctx, before, now)
			if err != nil {
				return nil, err
			}
			if old.readable() {
				for _, e := range old.log.Entries {
					known[e.Digest] = true
				}
			}
		}
		fresh := slices.DeleteFunc(slices.Clone(now.log.Entries), func(e small.Entry) bool { return known[e.Digest] })
		if len(fresh) > 0 {
			out = append(out, laneLog{path: c.Path, entries: fresh})
		}
	}
	return out, nil
}
