package logs

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// RecordChange is the edge of a 2.0.0 file that two branches wrote; it is not judged as an edit.
type RecordChange struct {
	*LogChange
	// Late are the entries of a 1.0.0 branch that git has merged into an import. If there are none, the file is the profile.
	Late []ledger.Entry
}

// recordChange is the RecordChange of such an edge; nil for any other.
func recordChange(ctx context.Context, e *LogChange) (*RecordChange, error) {
	src := e.Run.Source
	if len(e.Edits) == 0 || e.after.Mode == "" || e.OldPath != e.Path || !src.IsImmutableRecord(e.Path) {
		return nil, nil
	}
	_, name, _ := small.SplitPath(e.Path)
	switch {
	case name == records.ProfileFile && e.Merge:
		for _, f := range []history.File{e.before, e.after} {
			if is, err := src.IsProfile2(ctx, f); err != nil || !is {
				return nil, err
			}
		}
		return &RecordChange{LogChange: e}, nil
	case !records.IsOriginalLog(name):
		return nil, nil
	}
	before, err := src.ProgressReader.Read(ctx, e.before, nil)
	if err != nil || !before.Readable() {
		return nil, err
	}
	after, err := src.ProgressReader.Read(ctx, e.after, before)
	if err != nil || !after.Readable() {
		return nil, err
	}
	late := ledger.Only(after.Log.Ledger, before.Log.Ledger, ledger.Equivalence{})
	if len(late) == 0 || len(ledger.Only(before.Log.Ledger, after.Log.Ledger, ledger.Equivalence{})) > 0 {
		return nil, nil
	}
	return &RecordChange{LogChange: e, Late: late}, nil
}
