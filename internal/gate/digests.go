package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// DigestsOf lists the entry digests of the log in one directory of a tree. The log must be there and readable.
func DigestsOf(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) ([]small.Digest, error) {
	opts = opts.WithDefaults()
	files, err := tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return nil, err
	}
	path := small.Progress.Path(dir)
	at := slices.IndexFunc(files, func(f history.File) bool { return f.Path == path })
	if at < 0 {
		return nil, &failure.Error{Message: "there is no log " + path, Remedy: "name a directory that has one, or the log itself"}
	}
	data, problem, err := read.ReadFile(ctx, tree, files[at], opts.Limits())
	if err != nil {
		return nil, err
	}
	var log *ledger.Log
	if problem == nil {
		var problems []small.Problem
		if log, problems = ledger.ReadLog(data, opts.Limits()); log == nil {
			problem = &problems[0]
		}
	}
	if problem != nil {
		return nil, &failure.Error{Message: path + " cannot be read as a log: " + problem.Message, Remedy: problem.Hint}
	}
	return ledger.DigestsOf(log.Ledger), nil
}
