package logs

import (
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
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
	p := rule.Place{Commit: s.ID}
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
	// Excused are entries that a baseline accepts, or that another rule reports.
	Excused func(small.Digest) bool
}
