package logs

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// RecordChange is the edge of a file of SMALL 2.0.0 in which git put together the work of two branches: a workspace's profile, or the log of 1.0.0
// in an import. The rules about edits do not judge it.
type RecordChange struct {
	*LogChange
	// Late are the entries of a branch of 1.0.0 that git has written into the import's log. If there are none, the file is the profile.
	Late []ledger.Entry
}

// asRecordChange returns e as a RecordChange if it is one; otherwise nil.
func asRecordChange(ctx context.Context, e *LogChange) (*RecordChange, error) {
	src := e.Run.Source
	if len(e.Edits) == 0 || e.afterFile.Mode == "" || e.OldPath != e.Path || !src.IsImmutableRecord(e.Path) {
		return nil, nil
	}
	_, name, _ := small.SplitPath(e.Path)
	switch {
	case name == records.ProfileFile && e.IsMerge:
		for _, f := range []history.File{e.beforeFile, e.afterFile} {
			if is, err := src.IsProfile2(ctx, f); err != nil || !is {
				return nil, err
			}
		}
		return &RecordChange{LogChange: e}, nil
	case !records.IsOriginalLog(name):
		return nil, nil
	}
	before, err := src.ProgressReader.Read(ctx, e.beforeFile, nil)
	if err != nil || !before.Readable() {
		return nil, err
	}
	after, err := src.ProgressReader.Read(ctx, e.afterFile, before)
	if err != nil || !after.Readable() {
		return nil, err
	}
	late := ledger.Only(after.Log.Ledger, before.Log.Ledger, ledger.Equivalence{})
	if len(late) == 0 || len(ledger.Only(before.Log.Ledger, after.Log.Ledger, ledger.Equivalence{})) > 0 {
		return nil, nil
	}
	return &RecordChange{LogChange: e, Late: late}, nil
}
