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

// Commit is one commit, or what is not committed yet, with its changes of the configured logs.
type Commit struct {
	rule.Place
	Run *run.Run
	*read.Step
}

// placeOf returns the place of findings about a step: the commit and its first parent.
func placeOf(s *read.Step) rule.Place {
	p := rule.Place{Commit: s.ID, Branch: s.Branch}
	if len(s.Parents) > 0 {
		p.Parent = s.Parents[0]
	}
	return p
}

// CommitLog is one log in a commit, and the same log in the commit's parents.
type CommitLog struct {
	rule.Place
	Run     *run.Run
	Path    string
	Step    *read.Step
	Child   *read.LedgerFile
	Parents []read.ParentLog
	// ParentsAfterRewrites are the parents' logs with approved rewrites applied.
	ParentsAfterRewrites []read.ParentLog
	// Returned are the entries that the commit adds although an approved rewrite removed them.
	Returned []ledger.Entry
	// edges are the edges on which the log changed.
	edges []*LogChange
}

// newCommitLog makes the CommitLog of one log, and finds its returned entries. approved are the parents' logs with approved rewrites applied.
func newCommitLog(ctx context.Context, r *run.Run, s *read.Step, path string, child *read.LedgerFile, parents, approved []read.ParentLog, edges []*LogChange) (log *CommitLog, err error) {
	log = &CommitLog{Place: placeOf(s), Run: r, Path: path, Step: s, Child: child, Parents: parents, ParentsAfterRewrites: approved, edges: edges}
	if log.Returned, err = log.findReturned(ctx); err != nil {
		return nil, err
	}
	files, err := log.findReturnedFile(ctx)
	log.Returned = append(log.Returned, files...)
	return log, err
}

// AddedCopies lists the entries that repeat an earlier one, beyond the number that any parent or any accepted log has; divergence/returned-entry reports
// those that an approved rewrite removed. For first see [ledger.AddedCopies].
func (l *CommitLog) AddedCopies(ctx context.Context) (copies, first []ledger.Entry, err error) {
	var before []*ledger.Ledger
	for _, p := range l.ParentsAfterRewrites {
		for _, log := range p.Ledgers {
			before = append(before, log.Log.Ledger)
		}
	}
	if copies, _ = ledger.AddedCopies(before, l.Child.Log.Ledger); len(copies) == 0 {
		return nil, nil, nil // the usual case, for which nothing else is read
	}
	source := l.Run.Source
	accepted, err := source.AcceptedLogs(ctx, source.Policy.LogFor(l.Path), commitOrParents(l.Run, l.Step.Commit), l.Path, l.Child)
	if err != nil {
		return nil, nil, err
	}
	copies, first = ledger.AddedCopies(append(before, accepted...), l.Child.Log.Ledger)
	return copies, first, nil
}

// isAccepted reports whether a baseline or the since commit accepts an entry on one of the edges.
func (l *CommitLog) isAccepted(d small.Digest) bool {
	return slices.ContainsFunc(l.edges, func(e *LogChange) bool { return e.Accepted[d] })
}

// IsReturned reports whether divergence/returned-entry reports an entry.
func (l *CommitLog) IsReturned(d small.Digest) bool {
	return slices.ContainsFunc(l.Returned, func(e ledger.Entry) bool { return e.Digest == d })
}
