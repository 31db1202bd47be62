package gate

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
)

// Moves says which logs went to another path between a commit and a later one.
func Moves(ctx context.Context, h history.History, from, to string, opts run.Options) (map[string]string, error) {
	if from == to {
		return nil, nil
	}
	m, err := run.New(h, opts, run.Scope{}).Source.MovesBetween(ctx, from, to)
	out := map[string]string{}
	for path, f := range m {
		if read.IsLedger(path) {
			out[path] = f.Path
		}
	}
	return out, err
}
