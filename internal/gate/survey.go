package gate

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"

	"github.com/small-gate/small-gate/internal/failure"
)

// Ledgers lists the state of every log of a revision that the policy judges. A
// log that cannot be read is a *failure.Error.
func Ledgers(ctx context.Context, h history.History, revision string, opts run.Options) ([]finding.LedgerState, error) {
	src := run.New(h, opts, run.Scope{}).Source
	files, err := h.List(ctx, revision, history.Workspaces())
	if err != nil {
		return nil, err
	}
	var out []finding.LedgerState
	for _, f := range files {
		if !read.IsLedger(f.Path) || !src.Judges(f.Path) {
			continue
		}
		l, err := src.Ledgers.Read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		if !l.Readable() {
			return nil, &failure.Error{
				Message: fmt.Sprintf("%s cannot be read as a log: %s", f.Path, l.Problems[0].Message),
				Remedy:  "correct the file and commit it first",
			}
		}
		state := finding.LedgerState{Path: f.Path, Entries: l.Log.Len(), Head: l.Log.Head()}
		for _, e := range l.Log.Entries {
			if _, ok := ledger.ParseTimestamp(e.Timestamp); !ok {
				state.Unmigrated++
			}
		}
		out = append(out, state)
	}
	return out, nil
}
