// Package run has what every judgement consists of: its options, the part of a repository that it looks at (its scope), and the collector, in
// which every rule judges every subject.
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

// SortedKeys returns the members of a set, in order. It never returns nil, because nil would mean all paths when a tree is listed.
func SortedKeys(set map[string]bool) []string {
	keys := slices.AppendSeq(make([]string, 0, len(set)), maps.Keys(set))
	slices.Sort(keys)
	return keys
}

// Run is one judgement: its options and source, the scope of its passes, what the passes have learned, and what was found.
type Run struct {
	Options   Options
	Source    *read.Source
	Scope     Scope
	Learned   *Learned
	Collector *Collector
	// JudgeFilesOf, if set, judges the files of a commit, and is called for every commit. If it is nil, only the tip's files are judged.
	JudgeFilesOf func(ctx context.Context, r *Run, commit string, touched Touched) error
	// Profile2 judges a workspace of the profile 2.0.0 as of a revision. The rules of 1.0.0 do not apply to it.
	Profile2 func(ctx context.Context, r *Run, revision, dir string, files []history.File) error
	// Known returns what is needed to read a configuration: the rules and the families' sections.
	Known func() *policy.Known
	// families holds the passes of each family.
	families []Passes
	// Account is the report in which passes count what they looked at.
	Account *finding.Report
}

// Pass makes subjects from a part of a repository, and has the collector judge them. A judgement is a list of passes.
type Pass func(context.Context, *Run) error

// Scope is what passes look at. Another tip is another scope, in a run of its own: see [Run.Beside].
type Scope struct {
	// Tip is what is judged, Base is what it is compared with.
	Base, Tip history.Tip
	// Dir is the directory whose workspace is checked; if Recursive is true, all workspaces below it are checked.
	Dir       string
	Recursive bool
	// Parents are the parents of the index, or of the work tree.
	Parents []string
	// Against is the parent of the work tree, if that is not HEAD.
	Against string
	// Logs, if set, selects the logs whose changes on edges are judged.
	Logs func(path string) bool
	// Update is a ref that a push moves.
	Update history.Update
	// Whole is true if a whole history is judged. Predicts is true if a merge is judged that has not been made yet.
	Whole, Predicts bool
	// Adopts is true if the commits before a change are judged by the stanzas that the change adds to the configuration, or alters.
	Adopts bool
	// Fix is the remedy for an edit of a log that no commit of a branch made.
	Fix string
}

// Learned is what passes have found out for later passes.
type Learned struct {
	// Commits are the commits to be judged.
	Commits []history.Commit
	// nearTip holds the last commits before the tip; nil until isNearTip needs them. places says at which place in the order of judging each commit
	// comes. firstNamed holds, by a commit's standing and a log's path, the earliest commit that a fix for the log has named.
	nearTip    map[string]bool
	places     map[string]int
	firstNamed map[string]string
	// sortedIDs are the sorted ids of Commits; nil until JudgesCommit needs them.
	sortedIDs []string
	// mends are the commands that fixes have named to mend commits.
	mends map[string]mend
	// Walked is true once every commit between base and tip has been judged.
	Walked bool
	// UnrelatedLog is true once a merge of unrelated histories put another log at a log's path. That is no loss on the edges of the merge, but
	// may look like one between two tips.
	UnrelatedLog bool
	// Relocated holds the old and the new paths of configured logs that moved or were rotated in one of the commits.
	Relocated map[string]bool
	// FolderRewrites holds, by edge, folder and heads, the approved rewrites of folders of files, as far as they were looked for; nil for one that was
	// not made on the edge.
	FolderRewrites map[string]*read.FolderRewrite
	// AddedBlobs holds, by edge and blob, the first new path of each blob that an edge adds, as far as it was looked up.
	AddedBlobs map[history.Edge]map[string]string
	// AddsFiles is true if one of the commits adds a file that is, or differs only in case from, one that may be judged.
	AddsFiles bool
	// Touched is what the change touches.
	Touched
	// ConfigChange is the change of the configuration. SchemaChanges holds the paths of changed schemas that it names.
	ConfigChange  history.Change
	SchemaChanges map[string]bool
	// HasFamilyWork is true if a family has something to judge. It may be true where there is no workspace.
	HasFamilyWork bool
	// TipWorkspaces are the directories of the workspaces of the tip that were judged.
	TipWorkspaces []string
	// Drafts holds, by a log's path, the subject for the first commit of a branch that edits or drops a draft: a file that an earlier commit of
	// the branch added.
	Drafts map[string]rule.Subject
	// LastFiles holds, by commit and log, the path of the last file of a log that orders its files, as far as it was looked up. Commits share the
	// inner maps.
	LastFiles map[string]map[read.FolderLog]string
	// steps says which steps are judged, once stepsKnown is true; nil if none are. branches is what Branches found.
	steps      *Steps
	stepsKnown bool
	branches   *history.Branches
	// origins holds, by an entry's digest, the commit that brought the entry; copies the last one that brought an equal entry again.
	origins, copies map[small.Digest]string
	// line is the first-parent line of the tip, and broughtBy says which of its commits brought each commit; nil until BranchOf needs them.
	line      []history.Commit
	broughtBy map[string]int
}

// New makes a run over a history.
func New(h history.History, opts Options, s Scope) *Run {
	return newRun(h, h, opts.WithDefaults(), s)
}

// NewCheck makes a run over a tree without a history.
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

// mend is what a command mends: the log of a path since a commit of some standing, or files.
type mend struct {
	standing     history.Standing
	path, commit string
	files        []string
}

func newLearned() *Learned {
	return &Learned{Touched: NewTouched(), SchemaChanges: map[string]bool{}, Drafts: map[string]rule.Subject{}, Relocated: map[string]bool{}, LastFiles: map[string]map[read.FolderLog]string{}}
}

// Beside makes a run of the same judgement with another scope. It shares the collector, but what its passes count is not in the report.
func (r *Run) Beside(s Scope) *Run {
	return &Run{Options: r.Options, Source: r.Source, Scope: s, Learned: newLearned(), Collector: r.Collector, JudgeFilesOf: r.JudgeFilesOf, Profile2: r.Profile2, families: r.families, Known: r.Known, Account: &finding.Report{}}
}

// Before returns the commit before everything that is judged; for a whole history, the tip itself. If the caller names no trusted commit, this
// commit's logs decide which baselines are active.
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

// Do runs passes until one fails, and makes the report.
func (r *Run) Do(ctx context.Context, passes ...Pass) *finding.Report {
	err := r.RunPasses(ctx, passes...)
	r.Examined().Logs = r.countLogs()
	r.joinMends(history.Own)
	r.joinMends(history.Published)
	return r.Collector.finish(err, r.Options.FailOnWarning)
}

// countLogs returns the number of configured logs that were examined.
func (r *Run) countLogs() int {
	if len(r.Learned.Logs) > 0 {
		return len(r.Learned.Logs)
	}
	n := 0
	for _, l := range r.Account.Ledgers {
		if _, inWorkspace := small.WorkspaceOf(l.Path); !inWorkspace {
			n++
		}
	}
	return n
}

// RunPasses runs passes until one fails.
func (r *Run) RunPasses(ctx context.Context, passes ...Pass) error {
	for _, p := range passes {
		if err := p(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Examined returns the part of the report that says what was examined.
func (r *Run) Examined() *finding.Examined { return &r.Account.Examined }

// FailureReport makes the report of a judgement that could not begin.
func FailureReport(opts Options, err error) *finding.Report {
	return newCollector(opts.WithDefaults()).finish(err, false)
}

// EmptyReport makes the report for a change in which there is nothing to judge.
func EmptyReport(opts Options) *finding.Report { return FailureReport(opts, nil) }

// Touched holds the directories of workspaces, the configured logs and the files of families that changes touch.
type Touched struct{ Workspaces, Logs, Families map[string]bool }

// NewTouched makes an empty Touched.
func NewTouched() Touched { return Touched{map[string]bool{}, map[string]bool{}, map[string]bool{}} }

// Note adds what changes on some edges touch.
func (s Touched) Note(src *read.Source, edges ...[]history.Change) {
	for _, c := range slices.Concat(edges...) {
		if src.Policy.Watches(c.Path) {
			s.Families[c.Path] = true
		}
		if src.Policy.LogFor(c.Path) != nil {
			s.Logs[src.LogName(c.Path)] = true
		}
		if dir, in := small.WorkspaceOf(c.Path); in && src.Judges(c.Path) {
			s.Workspaces[dir] = true
		}
	}
}

// IsAcceptedPast reports whether a baseline or the log's since commit accepts what a commit did to a log. Only a judgement of a whole history looks at
// accepted commits; for any other it returns false.
func (r *Run) IsAcceptedPast(ctx context.Context, commit, path string) (bool, error) {
	if !r.Scope.Whole && !r.Scope.Adopts {
		return false, nil
	}
	if past, err := r.Source.IsBeforeSince(ctx, commit, path); err != nil || past {
		return past, err
	}
	return r.Source.IsBeforeBaseline(ctx, commit, path)
}

// NotePolicy notes that a commit edits the configuration, or a schema that it names. A merge edits it if its file differs from the file of each
// parent. For the index only HEAD counts, which has the trusted configuration. Nothing is noted when a whole history is judged.
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
			r.Learned.ConfigChange = c
		} else {
			r.Learned.SchemaChanges[c.Path] = true
		}
	}
}

// maxDescribed is the largest number of commits that a report describes.
const maxDescribed = 300

// DescribeCommits adds the author, date and subject of the commits that the findings of a report name. Without findings it reads nothing.
func DescribeCommits(ctx context.Context, h history.History, r *finding.Report) error {
	known := map[string]bool{"": true}
	for _, c := range r.Commits {
		known[c.ID] = true
	}
	for _, f := range slices.Concat(r.Findings, r.Waived) {
		if known[f.Commit] || len(r.Commits) == maxDescribed {
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
