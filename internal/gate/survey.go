package gate

import (
	"context"
	"fmt"
)

// Ledgers lists the state of every log of a revision that the policy judges. A
// log that cannot be read is a *Failure.
func Ledgers(ctx context.Context, h History, revision string, opts Options) ([]LedgerState, error) {
	src := newRun(h, opts, scope{}).src
	files, err := h.Files(ctx, revision)
	if err != nil {
		return nil, err
	}
	var out []LedgerState
	for _, f := range files {
		if !isLedger(f.Path) || !src.judges(f.Path) {
			continue
		}
		l, err := src.ledgers.read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		if !l.readable() {
			return nil, &Failure{
				Message: fmt.Sprintf("%s cannot be read as a log: %s", f.Path, l.problems[0].Message),
				Remedy:  "correct the file and commit it first",
			}
		}
		out = append(out, LedgerState{Path: f.Path, Entries: l.log.Len(), Head: l.log.Head()})
	}
	return out, nil
}
