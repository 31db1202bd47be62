package logs

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Commit is one commit, or what is not committed yet, with what it changed in the configured logs.
type Commit struct {
	rule.Place
	Run *run.Run
	*read.Step
}

// placeOf is where findings about a step stand, beside its first parent.
func placeOf(s *read.Step) rule.Place {
	p := rule.Place{Commit: s.ID, Branch: s.Branch}
	if len(s.Parents) > 0 {
		p.Parent = s.Parents[0]
	}
	return p
}

// CommitLog is one log in a commit, beside the same log in the commit's parents.
type CommitLog struct {
	rule.Place
	Run     *run.Run
	Path    string
	Step    *read.Step
	Child   *read.LedgerFile
	Parents []read.ParentLog
	// Approved are the parents' logs as approved rewrites let them become.
	Approved []read.ParentLog
	// Returned are the entries that the commit adds although an approved rewrite removed them.
	Returned []ledger.Entry
	// edges are those on which the log changed.
	edges []*LogChange
}

// commitLog is one log in a commit. edges are those on which it changed, and approved the parents' logs as approved rewrites let them become.
func commitLog(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents, approved []read.ParentLog, edges []*LogChange) (log *CommitLog, err error) {
	log = &CommitLog{Place: placeOf(s), Run: r, Path: path, Step: s, Child: child, Parents: parents, Approved: approved, edges: edges}
	log.Returned, err = log.findReturned(ctx)
	return log, err
}

// Excused reports whether a baseline accepts an entry, or divergence/returned-entry reports it.
func (l *CommitLog) Excused(d small.Digest) bool {
	return l.accepted(d) || l.returns(d)
}

func (l *CommitLog) accepted(d small.Digest) bool {
	return slices.ContainsFunc(l.edges, func(e *LogChange) bool { return e.Accepted[d] })
}

func (l *CommitLog) returns(d small.Digest) bool {
	return slices.ContainsFunc(l.Returned, func(e ledger.Entry) bool { return e.Digest == d })
}
