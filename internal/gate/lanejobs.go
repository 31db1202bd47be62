package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// laneJobs reads the records of jobs that a change touches, where the
// configuration says that there are some: the strictest lane that they were given,
// and whether the change adds a switch to one. A record counts as it is where the
// change began, or a change could loosen what binds it; a new one as it is in the
// end. What a merge brought along is not the change's own.
func (j *judgement) laneJobs(ctx context.Context, change laneChange, changes [][]Change) (given lane.Claim, switched bool, err error) {
	for _, c := range changes[0] {
		if len(j.opts.Policy.Workflows.Jobs) == 0 || !j.opts.Policy.JudgesJob(c.Path) {
			continue
		}
		var before []*lane.Record
		known := map[small.Digest]bool{}
		differs := true
		for _, edge := range changes {
			at, touched := changeAt(edge, c.Path)
			differs = differs && touched
			record, err := j.record(ctx, at.Old)
			if err != nil {
				return given, false, err
			}
			if record != nil {
				before = append(before, record)
				for _, e := range record.Ledger().Entries {
					known[e.Digest] = true
				}
			}
		}
		now, err := j.record(ctx, c.New)
		if err != nil {
			return given, false, err
		}
		if !differs || now == nil && len(before) == 0 {
			continue // what cannot be read is a finding of its own
		}
		if now != nil {
			switched = switched || slices.ContainsFunc(now.Ledger().Entries, func(e small.Entry) bool { return !known[e.Digest] })
		}
		if len(before) == 0 {
			before = []*lane.Record{now}
		}
		for _, record := range before {
			given = lane.Claim{Lane: lane.Stricter(given.Lane, record.Lane), Source: lane.FromJob}
		}
	}
	return given, switched, nil
}
