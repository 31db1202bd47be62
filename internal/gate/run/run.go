// Package run is one judgement: its options, the part of a repository that it looks at,
// and the collector, in which every rule judges every subject.
package run

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// SortedKeys are the members of a set, in order; never nil, which means all paths when a tree is listed.
func SortedKeys(set map[string]bool) []string {
	keys := slices.AppendSeq(make([]string, 0, len(set)), maps.Keys(set))
	slices.Sort(keys)
	return keys
}

// Run is one judgement: its options, what it reads from, what it looks at, what its passes have learned, and what it has found.
type Run struct {
	Options   Options
	Source    *read.Source
	Scope     Scope
	Learned   *Learned
	Collector *Collector
	// Each, if set, judges the files of every commit, not only the tip's.
	Each func(ctx context.Context, r *Run, commit string, touched Touched) error
	// Profile2 judges a workspace of the profile 2.0.0 as of a revision. The rules of 1.0.0 do not apply to it.
	Profile2 func(ctx context.Context, r *Run, revision, dir string, files []history.File) error
	// Known is what a configuration has to know about the gate.
	Known func() *policy.Known
	// families are the passes of families in this judgement.
	families []Passes
	// Account is the report in which passes say what they looked at.
	Account *finding.Report
}

// Pass makes subjects of a part of a repository and has them judged. A judgement is a list of passes.
type Pass func(context.Context, *Run) error

// Scope is what passes look at. To look at another tip, take another run: see [Run.Beside].
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
	// Whole is true for a whole history, Predicts for a merge that is not made yet.
	Whole, Predicts bool
	// Adopts is true if the history behind a change is judged by stanzas of logs that the change brings.
	Adopts bool
	// Fix is the remedy for changes of logs that no commit of a branch made.
	Fix string
}

// Learned is what a pass leaves for later ones.
type Learned struct {
	// Commits are those to be judged.
	Commits []history.Commit
	// near are the last commits before the tip, once that is asked; places are those of the commits in the order of the judgement, and remade are
	// the earliest commits that fixes have named, by the path of the log.
	near   map[string]bool
	places map[string]int
	remade map[string]string
	// Walked is true once every commit between base and tip has been judged.
	Walked bool
	// UnrelatedLog is true once a merge of unrelated histories put another log at a log's path: not a loss on that
	// edge, but perhaps between two tips.
	UnrelatedLog bool
	// Relocated has the paths that configured logs left, or came to, in one of the commits.
	Relocated map[string]bool
	// Touched is what has changed.
	Touched
	// PolicyChange is the change of the configuration; SchemaChanges are the paths of schemas that it names and that change.
	PolicyChange  history.Change
	SchemaChanges map[string]bool
	// Occupied is true if a family has something to judge, even if there is no workspace.
	Occupied bool
	// Snapshots are the directories of the workspaces that were judged as of the tip.
	Snapshots []string
	// Drafts are, by log, subjects for commits that edit or drop what an earlier commit of the branch has, in the order of the commits.
	Drafts map[string]rule.Subject
	// Last are, by commit, the paths of the last files in folders that are ordered by name, as far as they are known. Commits share
	// them.
	Last map[string]map[string]string
	// steps says which steps are judged, once that is known: nil if none are. branches are those on which it depends.
	steps      *Steps
	stepsKnown bool
	branches   *history.Branches
	// origins are the commits that the entries of logs came with.
	origins map[small.Digest]string
	// bases are where each commit joined the tip's first-parent line; nil until they are needed.
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
	r := &Run{Options: opts, Source: read.NewSource(tree, h, opts.basis()), Scope: s, Learned: newLearned(), Collector: newCollector(opts)}
	r.Account, r.Collector.adopts = &r.Collector.Report, s.Adopts
	if h != nil && r.Options.Trusted == "" {
		r.Source.Trusted = s.Before()
	}
	return r
}

func newLearned() *Learned {
	return &Learned{Touched: NewTouched(), SchemaChanges: map[string]bool{}, Drafts: map[string]rule.Subject{}, Relocated: map[string]bool{}, Last: map[string]map[string]string{}}
}

// Beside is a run in the same judgement that looks at something else, and whose account is not reported.
func (r *Run) Beside(s Scope) *Run {
	return &Run{Options: r.Options, Source: r.Source, Scope: s, Learned: newLearned(), Collector: r.Collector, Each: r.Each, Profile2: r.Profile2, families: r.families, Known: r.Known, Account: &finding.Report{}}
}

// Before is the commit before all that is judged; the tip itself, for a whole history. Its logs say which baselines are active if the
// caller names none.
func (s Scope) Before() string {
	switch {
	case s.Whole, s.Adopts && !history.Uncommitted(s.Tip.ID):
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
func (r *Run) Examined() *finding.Examined { return &r.Account.Examined }

// FailureReport is the report of a judgement that could not begin.
func FailureReport(opts Options, err error) *finding.Report {
	return newCollector(opts.WithDefaults()).finish(err, false)
}

// Nothing is the report of a change that touches nothing of interest.
func Nothing(opts Options) *finding.Report { return FailureReport(opts, nil) }

// Touched are the workspace directories, the configured logs and the families' files that changes touch.
type Touched struct{ Workspaces, Logs, Families map[string]bool }

// NewTouched is an empty Touched.
func NewTouched() Touched { return Touched{map[string]bool{}, map[string]bool{}, map[string]bool{}} }

// Note notes what has changed on some edges.
func (s Touched) Note(src *read.Source, edges ...[]history.Change) {
	for _, c := range slices.Concat(edges...) {
		if src.Policy.Watches(c.Path) {
			s.Families[c.Path] = true
		}
		if src.Policy.LogFor(c.Path) != nil {
			s.Logs[src.LogOf(c.Path)] = true
		}
		if dir, in := small.WorkspaceOf(c.Path); in && src.Judges(c.Path) {
			s.Workspaces[dir] = true
		}
	}
}

// IsPast reports whether a baseline, or a log's since commit, accepts what a commit did to the log. It is false except in a whole history:
// elsewhere the past is not judged.
func (r *Run) IsPast(ctx context.Context, commit, path string) (bool, error) {
	if !r.Scope.Whole && !r.Scope.Adopts {
		return false, nil
	}
	if past, err := r.Source.IsBeforeSince(ctx, commit, path); err != nil || past {
		return past, err
	}
	return r.Source.IsBeforeBaseline(ctx, commit, path)
}

// NotePolicy notes that a commit edits the configuration, or a schema that it names. A merge does if its file differs from each parent's. The
// index is compared only with HEAD, whose configuration is the trusted one. In a whole history edits of the configuration are not noted.
func (r *Run) NotePolicy(n history.Commit, changes [][]history.Change) {
	if r.Scope.Whole || r.Scope.Adopts || len(changes) == 0 {
		return
	}
	if n.ID == history.Index {
		changes = changes[:1]
	}
	for _, c := range changes[0] {
		if !r.Source.Policy.Configures(c.Path) || slices.ContainsFunc(changes, func(edge []history.Change) bool { _, is := history.ChangeAt(edge, c.Path); return !is }) {
			continue
		}
		if c.Path == policy.File {
			r.Learned.PolicyChange = c
		} else {
			r.Learned.SchemaChanges[c.Path] = true
		}
	}
}

// maxCommits is how many commits a report describes.
const maxCommits = 300

// DescribeCommits reads author, date and subject of the commits that a report's findings name. Without findings it
// reads nothing.
func DescribeCommits(ctx context.Context, h history.History, r *finding.Report) error {
	known := map[string]bool{"": true}
	for _, c := range r.Commits {
		known[c.ID] = true
	}
	for _, f := range slices.Concat(r.Findings, r.Waived) {
		if known[f.Commit] || len(r.Commits) == maxCommits {
			continue
		}
		known[f.Commit] = true
		s, err := h.Signature(ctx, f.Commit)
		if err != nil {
			return err
		}
		r.Commits = append(r.Commits, finding.Commit{ID: f.Commit, Author: wording.Clip(s.Name), Subject: wording.Clip(s.Subject()), Date: s.Date})
	}
	return nil
}
