package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/small"
)

// laneJobs is what the records of jobs say about a change's lane.
type laneJobs struct {
	// claim is the strictest lane that a job was given from upstream.
	claim lane.Claim
	// switches are the switches of workflow that the change records.
	switches []jobSwitch
}

// jobSwitch is a job's switch from a workflow of one lane to one of another; the
// zero Lane for a workflow whose name promises none.
type jobSwitch struct{ from, to lane.Lane }

// records reports whether a job's switch can be the record of a change's.
func (s jobSwitch) records(w laneSwitch) bool {
	return (s.from == "" || s.from == w.from) && (s.to == "" || s.to == w.to)
}

// laneJobs reads the records of jobs that a change touches, where the
// configuration says that there are some. A record binds the change that touches
// it by what it says at the change's bases as well as at its head: else the
// change could loosen, or delete, what binds it.
func (j *judgement) laneJobs(ctx context.Context, change laneChange) (laneJobs, error) {
	var out laneJobs
	if len(j.opts.Policy.Workflows.Jobs) == 0 {
		return out, nil
	}
	touched, err := j.touchedRecords(ctx, change)
	if err != nil {
		return out, err
	}
	known := map[small.Digest]bool{}
	var now []*lane.Record
	for _, t := range touched {
		for _, f := range t.before {
			before, err := j.record(ctx, f)
			if err != nil {
				return out, err
			}
			if before == nil {
				continue
			}
			out.bind(before.Lane)
			for _, e := range before.Ledger().Entries {
				known[e.Digest] = true
			}
		}
		after, err := j.record(ctx, t.now)
		if err != nil {
			return out, err
		}
		if after != nil { // else it is gone, or cannot be read, which is a finding of its own
			now = append(now, after)
		}
	}
	for _, after := range now {
		out.bind(after.Lane)
		for _, e := range after.Ledger().Entries {
			if !known[e.Digest] { // and so not one of a record that has only moved
				s := &after.Switches[e.Index]
				out.switches = append(out.switches, jobSwitch{lane.OfWorkflow(s.From.Text), lane.OfWorkflow(s.To.Text)})
			}
		}
	}
	return out, nil
}

// bind takes a lane into the claim that was given from upstream.
func (l *laneJobs) bind(given lane.Lane) {
	if given != "" {
		l.claim = lane.Claim{Lane: lane.Stricter(l.claim.Lane, given), Source: lane.FromJob}
	}
}

// touchedRecord is one job's record that a change touches.
type touchedRecord struct {
	// before is the record at each base, now at the head; the zero File where it
	// is not.
	before []File
	now    File
}

// touchedRecords lists the records of jobs that differ from every base: what a
// merge brought along is not the change's own.
func (j *judgement) touchedRecords(ctx context.Context, change laneChange) ([]touchedRecord, error) {
	edges, err := j.history.Changes(ctx, EdgesOf(change.head, change.bases))
	if err != nil {
		return nil, err
	}
	var out []touchedRecord
	for _, c := range edges[0] {
		if !j.opts.Policy.JudgesJob(c.Path) {
			continue
		}
		t := touchedRecord{now: c.New}
		for _, edge := range edges {
			if i := slices.IndexFunc(edge, func(other Change) bool { return other.Path == c.Path }); i >= 0 {
				t.before = append(t.before, edge[i].Old)
			}
		}
		if len(t.before) == len(edges) {
			out = append(out, t)
		}
	}
	return out, nil
}
