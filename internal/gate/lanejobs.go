package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/lane"
)

// laneJobs is what the records of jobs say about a change's lane.
type laneJobs struct {
	// claim is the strictest lane that a job was given from upstream.
	claim   lane.Claim
	unknown []unknownLane
	// switches is how many switches of workflow the change records.
	switches int
}

// laneJobs reads the records of jobs that a change touches, where the
// configuration says that there are some.
func (j *judgement) laneJobs(ctx context.Context, change laneChange) (laneJobs, error) {
	var out laneJobs
	if len(j.opts.Policy.Workflows.Jobs) == 0 {
		return out, nil
	}
	touched, err := j.touchedFiles(ctx, change, j.opts.Policy.JudgesJob)
	if err != nil {
		return out, err
	}
	for _, c := range touched {
		now, err := j.laneRecord(ctx, c.Path, c.New)
		if err != nil {
			return out, err
		}
		if now == nil {
			continue // it is gone, or cannot be read, which is a finding of its own
		}
		before, err := j.laneRecord(ctx, c.Path, c.Old)
		if err != nil {
			return out, err
		}
		old := 0
		if before != nil {
			old = len(before.Switches)
		}
		out.switches += max(len(now.Switches)-old, 0)
		if now.Lane.Text == "" {
			continue
		}
		l, ok := lane.Parse(now.Lane.Text)
		if !ok {
			out.unknown = append(out.unknown, unknownLane{name: now.Lane.Text, path: c.Path})
			continue
		}
		out.claim = lane.Claim{Lane: lane.Stricter(out.claim.Lane, l), Source: lane.FromJob}
	}
	return out, nil
}

// laneRecord reads a job's record; nil where it is absent or cannot be read.
func (j *judgement) laneRecord(ctx context.Context, path string, f File) (*lane.Record, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := readFile(ctx, j.history, f, j.opts.limits())
	if err != nil || problem != nil {
		return nil, err
	}
	record, _ := lane.ParseRecord(path, data, j.opts.limits())
	return record, nil
}
