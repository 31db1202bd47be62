package walk

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
)

// tipsOf compares one log of two tips; nil if there is nothing to report.
func (r walker) tipsOf(ctx context.Context, pair [2]history.File, edge history.Edge) (*subject.LogTips, error) {
	path := pair[1].Path
	logs := r.Source.Logs(path)
	ours, err := logs.Read(ctx, pair[0], nil)
	if err != nil {
		return nil, err
	}
	theirs, err := logs.Read(ctx, pair[1], ours)
	if err != nil {
		return nil, err
	}
	if !ours.Readable() || !theirs.Readable() {
		return nil, nil // a log that is gone or cannot be read is found on an edge
	}
	equal := r.Source.Waived(pair[0].Path, path)
	own, err := r.Source.EquivalenceOn(ctx, nil, path, pair[0].Path, theirs, ours)
	if err != nil {
		return nil, err
	}
	if own.Accepted != nil && len(ledger.Only(theirs.Log.Ledger, ours.Log.Ledger, own)) == 0 {
		return nil, nil // the head parted before the target's baseline, and has nothing of its own
	}
	t := &subject.LogTips{Path: path, Divergence: ledger.Diverge(ours.Log.Ledger, theirs.Log.Ledger, equal, r.Collector.EditedEntries(path, false))}
	if inLine, err := r.walkedBetween(ctx, t, edge); err != nil || inLine {
		return nil, err
	}
	if r.Scope.Predicts && t.LinearWithout(r.Collector.EditedEntries(path, true), equal) {
		return nil, nil
	}
	return t, nil
}
