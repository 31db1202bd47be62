package lanes

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// jobClaims reads the jobs' records that a change touches: the strictest lane that they were given, and whether
// the change adds a switch to one. A record counts as it was where the change began, or a change could loosen what
// binds it, and as it is at the end. What a merge brought along does not count.
func (r laneFinder) jobClaims(ctx context.Context, changes [][]history.Change) (given lane.Claim, switched bool, err error) {
	given.Source = lane.FromJob
	for _, path := range history.PathsOf(changes[:1], r.Source.Policy.JudgesJob) {
		var records []*lane.Record
		known := map[small.Digest]bool{}
		var now history.File
		own := true
		for _, edge := range changes {
			c, touched := history.ChangeAt(edge, path)
			own, now = own && touched, c.New
			before, err := r.Source.Record(ctx, c.Old)
			if err != nil {
				return given, false, err
			}
			if before == nil {
				continue
			}
			records = append(records, before)
			for _, e := range before.Ledger().Entries {
				known[e.Digest] = true
			}
		}
		if !own {
			continue
		}
		after, err := r.Source.Record(ctx, now)
		if err != nil {
			return given, false, err
		}
		if after != nil { // what cannot be read is a finding of its own
			switched = switched || slices.ContainsFunc(after.Ledger().Entries, func(e ledger.Entry) bool { return !known[e.Digest] })
			records = append(records, after)
		}
		for _, record := range records {
			given.Lane = lane.Stricter(given.Lane, record.Lane)
		}
	}
	return given, switched, nil
}
