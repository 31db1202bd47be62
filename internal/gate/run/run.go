package run

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// SortedKeys are the members of a set, in order; never nil, which stands for all paths where a tree is listed.
func SortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Run is one judgement: its options, what it reads from, what it looks at now, and what it has found.
type Run struct {
	Options   Options
	Source    *read.Source
	Scope     *Scope
	Collector *Collector
}

// Pass makes subjects of a part of a repository and has them judged. A judgement is a list of passes.
type Pass func(context.Context, *Run) error

// Scope is what passes look at and what earlier passes have learned. To look at another tip, take another scope.
type Scope struct {
	// Base and Tip are compared.
	Base, Tip history.Tip
	// Dir is the directory whose workspace is checked, or, if Recursive, all below it.
	Dir       string
	Recursive bool
	// Parents are those of the index, or of the work tree.
	Parents []string
	// Against is the parent of the work tree, if that is not HEAD.
	Against string
	// Logs, if set, says which logs are judged on edges.
	Logs func(path string) bool
	// Update is a ref that a push moves.
	Update history.Update
	// Neighbours may have work on the same logs.
	Neighbours []subject.Neighbour
	// Whole is true for a whole history, Predicts for a merge that is not made yet.
	Whole, Predicts bool

	// Commits are those to be judged.
	Commits []history.Commit
	// Walked is true once every commit between base and tip has been judged.
	Walked bool
	// UnrelatedLog is true once a merge of unrelated histories put another log at a log's path: no loss on that
	// edge, but perhaps between two tips.
	UnrelatedLog bool
	// Workspaces are the directories that changed, Workflows the changed workflow files and records.
	Workspaces, Workflows map[string]bool
	// policyChange is the change of the configuration.
	PolicyChange history.Change
	// unions are files that git would merge by joining lines.
	Unions []subject.UnionMerge
	// Fix is the remedy of logs' changes that no commit of a branch made.
	Fix string
	// Lanes are the judged changes and their lanes.
	Lanes []*subject.LaneChange
	// origins are the commits that the entries of logs came with.
	origins map[small.Digest]string
	// bases are where each commit came to the tip's first-parent line, once somebody has asked.
	bases map[string]base
}

// New is a run over a history.
func New(h history.History, opts Options, s Scope) *Run {
	return newRun(h, h, opts.WithDefaults(), s)
}

// NewCheck is a run over a tree without a history.
func NewCheck(tree history.Tree, opts Options, s Scope) *Run {
	return newRun(tree, nil, opts.WithDefaults(), s)
}

func newRun(tree history.Tree, h history.History, opts Options, s Scope) *Run {
	s.Workspaces, s.Workflows = map[string]bool{}, map[string]bool{}
	r := &Run{Options: opts, Source: read.NewSource(tree, h, opts.basis()), Scope: &s, Collector: newCollector(opts)}
	if h != nil && r.Options.Trusted == "" {
		r.Source.Trusted = s.Before()
	}
	return r
}

// Before is the commit before all that is judged; that itself, if it is a whole history. Its logs say which baselines are active if the
// caller names none.
func (s *Scope) Before() string {
	switch {
	case s.Whole:
		return s.Tip.ID
	case len(s.Parents) > 0:
		return s.Parents[0]
	case s.Base.ID != "":
		return s.Base.ID
	}
	return s.Update.Target.ID
}

// Do runs passes up to the first that fails, and makes the report.
func (r *Run) Do(ctx context.Context, passes ...Pass) *finding.Report {
	return r.Collector.finish(r.All(ctx, passes...), r.Options.FailOnWarning)
}

// All runs passes up to the first that fails.
func (r *Run) All(ctx context.Context, passes ...Pass) error {
	for _, p := range passes {
		if err := p(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Examined is the part of the report that says what was looked at.
func (r *Run) Examined() *finding.Examined { return &r.Collector.Report.Examined }

// FailureReport is the report of a judgement that could not begin.
func FailureReport(opts Options, err error) *finding.Report {
	return newCollector(opts.WithDefaults()).finish(err, false)
}

// Nothing is the report of a change that touches nothing of interest.
func Nothing(opts Options) *finding.Report { return FailureReport(opts, nil) }

// Note notes that a path has changed.
func (s *Scope) Note(src *read.Source, path string) {
	if src.IsWorkflowOrRecord(path) {
		s.Workflows[path] = true
	}
	if dir, in := small.WorkspaceOf(path); in && src.Judges(path) {
		s.Workspaces[dir] = true
	}
}
