// Package gate judges the index, a range of commits, a push, a whole history, a merge
// before it is made, or a directory. Each judgement is a list of passes over one run; its
// result is a report. The gate does no I/O of its own, does not look at the clock and
// knows no git: it is given a history to read from, and the same input gives the same
// report.
package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/config"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/workspaces"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Check judges the workspace in one directory of a tree, as it is, and the
// directory's workflows. A directory with neither a .small directory nor, if they
// are configured, a workflow cannot be judged.
func Check(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: revision}, Dir: dir}
	return newCheck(tree, opts, s).Do(ctx, workspaces.JudgeChecked, run.Families(run.AtDirectory), logs.NoteAll, checkSomething, config.Judge)
}

// CheckAll judges every workspace at or below a directory of a tree ("" for all of
// it) that the policy does not exclude, and the workflows there.
func CheckAll(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: revision}, Dir: dir, Recursive: true}
	return newCheck(tree, opts, s).Do(ctx, workspaces.JudgeChecked, run.Families(run.AtDirectory), logs.NoteAll, checkSomething, config.Judge)
}

// Pending judges the index against its parents: HEAD first, then the other
// sides of a merge. An unborn HEAD has no parents. It then compares changed logs
// with the neighbours' logs, and only warns of what it finds there.
func Pending(ctx context.Context, h history.History, parents []string, opts run.Options, neighbours ...logs.Neighbour) *finding.Report {
	r := newRun(h, opts, run.Scope{Tip: history.Tip{ID: history.Index}, Parents: parents})
	if opts.Replay {
		return r.Do(ctx, logs.JudgeIndex, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), config.Judge)
	}
	return r.Do(ctx, run.Families(run.BeforeLogs), logs.JudgeIndex, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), run.Families(run.AfterFiles), logs.CompareNeighbours(neighbours), config.Judge)
}

// WorkTree judges the logs of the work tree against its parents: HEAD, then the commits that are being merged. If the branch was moved off the
// commit abandoned, as by a reset or a rebase, they are judged against abandoned too; fork is then the merge base of abandoned and HEAD.
func WorkTree(ctx context.Context, h history.History, parents []string, abandoned, fork string, opts run.Options) *finding.Report {
	s := run.Scope{Base: history.Tip{ID: fork}, Tip: history.Tip{ID: history.WorkTree}, Parents: parents}
	s.Update = history.Update{Old: abandoned, New: history.WorkTree, Target: history.Tip{ID: fork}}
	return newRun(h, opts, s).Do(ctx, logs.JudgeWorkTree, logs.CompareAbandonedTip)
}

// Appended judges entries of log before they are written: the one with the index from, and all after it. fix is the fix of each finding.
func Appended(ctx context.Context, tree history.Tree, path string, log *ledger.Ledger, from int, fix string, opts run.Options) *finding.Report {
	return newCheck(tree, opts, run.Scope{}).Do(ctx, func(ctx context.Context, r *run.Run) error {
		e := &logs.LogChange{Run: r, Path: path, Fix: fix, Comparison: &ledger.Comparison{Old: log, New: log, Relation: ledger.Extended, ReconcileEntry: -1}}
		e.Commit = history.WorkTree
		for ; from < log.Len(); from++ {
			e.NewEntries = append(e.NewEntries, from)
		}
		return r.Collector.Judge(ctx, e)
	})
}

// Lost reports entries that a guarded writer recorded and that are in no commit and not in the index. noted is the log with them.
func Lost(ctx context.Context, tree history.Tree, path string, noted, index *ledger.Ledger, gone []ledger.Entry, how logs.Loss, opts run.Options) *finding.Report {
	return newCheck(tree, opts, run.Scope{}).Do(ctx, func(ctx context.Context, r *run.Run) error {
		if !r.Source.Judges(path) {
			return nil
		}
		e := &logs.LogChange{Run: r, Path: path, Loss: &how, Comparison: &ledger.Comparison{Old: noted, New: index, Relation: ledger.Rewritten, ReconcileEntry: -1}}
		e.Commit = history.Index
		restore := "small-hook restore" + remedy.InDirectory(path)
		e.Fix = "`" + restore + "`" + remedy.CommitAgain + "; if it was dropped on purpose, the same with --discard-new drops all that is not committed"
		if how.Discarded {
			e.Fix = "`" + restore + "`; if it was discarded on purpose, the same with --discard-new forgets it"
		}
		for _, lost := range gone {
			e.Edits = append(e.Edits, ledger.Edit{Kind: ledger.EditDeleted, OldIndex: lost.Index, NewIndex: -1})
		}
		return r.Collector.Judge(ctx, e)
	})
}

// NewCommits judges the commits that are reachable from head but from none of known, then the workspaces that they changed, as of head.
// base is a commit before them; empty if there is none.
func NewCommits(ctx context.Context, h history.History, base, head string, known []string, opts run.Options) *finding.Report {
	s := run.Scope{Base: history.Tip{ID: base}, Tip: history.Tip{ID: head}, Update: history.Update{New: head, Known: known}}
	return newRun(h, opts, s).Do(ctx, listCommits, run.Families(run.BeforeLogs), logs.JudgeCommits, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), run.Families(run.AfterFiles), config.Judge)
}

// CheckAgainst is Check, or CheckAll if recursive, of the work tree, and also judges its logs against base, which may be head.
func CheckAgainst(ctx context.Context, h history.History, base, head, dir string, recursive bool, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: history.WorkTree}, Parents: []string{base}, Dir: dir, Recursive: recursive}
	if base != head {
		s.Against = base
	}
	below := func(path string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") }
	s.Logs = below
	if !recursive {
		s.Logs = func(path string) bool { // the workspace's own log, and logs outside any workspace
			return path == small.Progress.Path(dir) || below(path) && !read.IsProgress(path)
		}
	}
	return newRun(h, opts, s).Do(ctx, logs.JudgeWorkTree, workspaces.JudgeChecked, logs.NoteAll, func(ctx context.Context, r *run.Run) error {
		if len(r.Collector.Report.Findings) > 0 {
			return nil // a deleted log is something to judge
		}
		return checkSomething(ctx, r)
	}, config.Judge)
}

// Range judges every commit that head has and base lacks, then the two tips as
// target and head, then head's snapshot of the workspaces that changed.
func Range(ctx context.Context, h history.History, base, head string, opts run.Options) *finding.Report {
	return RangeInto(ctx, h, base, head, "", opts)
}

// RangeInto judges a range as Range does, and then merge, which a CI system has
// made of head and base: the edges of every commit that only merge has, then its
// snapshot. Two sound changes can be unsound together, and the merge need not be
// what git would make. Findings already reported for head are not repeated.
func RangeInto(ctx context.Context, h history.History, base, head, merge string, opts run.Options) *finding.Report {
	r := newRun(h, opts, run.Scope{Base: history.Tip{ID: base, Name: history.Short(base)}, Tip: history.Tip{ID: head, Name: history.Short(head)}})
	r.Examined().Merge = merge
	passes := []run.Pass{listCommits, run.Families(run.BeforeLogs), logs.JudgeCommits, logs.JudgeAsSquash, run.Families(run.AfterLogs), logs.CompareTips, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), logs.NoteChanged, run.Families(run.AfterFiles), config.Judge, noteNoWorkspace}
	if merge != "" && merge != head {
		passes = append(passes, mergeResult(r, merge))
	}
	return r.Do(ctx, passes...)
}

// Audit judges every commit of a revision's history and all of its
// workspaces. All workflows count as changed.
func Audit(ctx context.Context, h history.History, head string, opts run.Options) *finding.Report {

	return newRun(h, opts, run.Scope{Tip: history.Tip{ID: head}, Whole: true}).Do(ctx, listCommits, logs.JudgeCommits, run.Families(run.AfterLogs), logs.JudgeTwins, workspaces.JudgeAll, run.Families(run.AtTip), logs.NoteAll, config.Judge, adviseExclude, noteNoLog)
}

// LastingErrors judges every commit of the tips' histories by the rules whose findings no later commit can mend. It does not judge files.
func LastingErrors(ctx context.Context, h history.History, tips []string, opts run.Options) *finding.Report {
	opts.OnlyLastingErrors = true
	list := func(ctx context.Context, r *run.Run) (err error) {
		r.Learned.Commits, err = r.Source.Commits(ctx, tips, nil)
		r.Examined().Head, r.Examined().Commits = "", len(r.Learned.Commits)
		return err
	}
	return newRun(h, opts, run.Scope{Tip: history.Tip{ID: tips[0]}, Whole: true}).Do(ctx, list, logs.JudgeCommits)
}

// Recent finds the last commits of a history that changed the logs of one stanza, going back until the given number of edges changed them.
// judge judges these commits by that stanza, or by another one for the same paths, and by no other stanza. Logs that are judged step by step
// are compared with the first parent alone: the history has landed.
func Recent(ctx context.Context, h history.History, head string, stanza policy.Log, edges int, opts run.Options) (judge func(policy.Log, func(*finding.Finding) bool) *finding.Report, err error) {
	opts.OnlyLastingErrors, opts.Policy = true, policy.Default()
	opts.Policy.Exclude = []string{"**"}
	opts.Branches = nil // so that each commit counts as a step
	with := func(stanza policy.Log) run.Options {
		one := *opts.Policy
		one.Logs = []policy.Log{stanza}
		opts.Policy = &one
		return opts
	}
	r := newRun(h, with(stanza), run.Scope{Tip: history.Tip{ID: head}})
	commits, err := r.Source.Commits(ctx, []string{head}, nil)
	if err != nil {
		return nil, err
	}
	if stanza.JudgedByStep() {
		commits = history.FirstParentLine(commits, head)
		for i, c := range commits {
			commits[i].Parents = c.Parents[:min(1, len(c.Parents))]
		}
	}
	if commits, err = lastChanging(ctx, r.Source, commits, edges); err != nil {
		return nil, err
	}
	return func(stanza policy.Log, find func(*finding.Finding) bool) *finding.Report {
		opts := with(stanza)
		opts.Find = find
		list := func(_ context.Context, r *run.Run) error {
			r.Learned.Commits, r.Examined().Commits = commits, len(commits)
			return nil
		}
		return newRun(h, opts, run.Scope{Tip: history.Tip{ID: head}}).Do(ctx, list, logs.JudgeCommits)
	}, nil
}

// lastChanging returns the last commits of all that change a log, going back until the given number of edges change one.
func lastChanging(ctx context.Context, src *read.Source, all []history.Commit, edges int) ([]history.Commit, error) {
	const atOnce = 500
	var out []history.Commit
	for end := len(all); end > 0 && edges > 0; end = max(0, end-atOnce) {
		commits := all[max(0, end-atOnce):end]
		changes, err := src.ChangesOf(ctx, commits)
		if err != nil {
			return nil, err
		}
		for i := len(commits) - 1; i >= 0 && edges > 0; i-- {
			changed := 0
			for _, edge := range changes[i] {
				if slices.ContainsFunc(edge, func(c history.Change) bool { return src.IsLog(c.Path) }) {
					changed++
				}
			}
			if changed > 0 {
				out = append(out, commits[i])
			}
			edges -= changed
		}
	}
	slices.Reverse(out)
	return out, nil
}

// Push judges one ref's move: every commit that it brings, edge by edge; then
// the old tip against the new one, so that a forced move that drops a
// published entry is found even where no edge shows it; then the new tip's
// snapshot of the workspaces that changed; and last, as warnings, the new tip
// against the default branch.
func Push(ctx context.Context, h history.History, u history.Update, opts run.Options) *finding.Report {
	return newRun(h, opts, run.Scope{Base: history.Tip{ID: u.Old}, Tip: history.Tip{ID: u.New}, Update: u}).Do(ctx, listCommits, run.Families(run.BeforeLogs), logs.JudgeCommits, run.Families(run.AfterLogs), logs.CompareOldTip, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), logs.NoteChanged, run.Families(run.AfterFiles), config.Judge, logs.CompareTarget)
}

// MergeCheck predicts the result of merging theirs into ours from the two tips
// and their merge bases, and judges no commit. What a side did to the log's common
// past is reported for that side: git silently takes it over if the other side
// did nothing. If one tip descends from the other there is no fork, and nothing
// else is reported.
//
// merge is the commit that git makes of the two, or theirs in a fast-forward; empty if git cannot merge them by itself.
// Its files are judged.
func MergeCheck(ctx context.Context, h history.History, ours, theirs, oursName, theirsName, merge string, opts run.Options) *finding.Report {
	r := newRun(h, opts, run.Scope{Base: history.Tip{ID: ours, Name: oursName}, Tip: history.Tip{ID: theirs, Name: theirsName}, Predicts: true})
	passes := []run.Pass{logs.JudgeSides, logs.JudgeBranch, logs.CompareFork}
	if merge != "" {
		passes = append(passes, mergeResult(r, merge))
	} else {
		passes = append(passes, noteDiffering)
	}
	return r.Do(ctx, passes...)
}

// noteDiffering notes the logs in which two tips differ, for the report's count.
func noteDiffering(ctx context.Context, r *run.Run) error {
	changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: r.Scope.Base.ID, Child: r.Scope.Tip.ID}})
	if err == nil {
		r.Learned.Note(r.Source, changes[0])
	}
	return err
}

// listCommits lists the commits that are to be judged.
func listCommits(ctx context.Context, r *run.Run) error {
	s := r.Scope
	var known []string
	switch u := s.Update; {
	case u.New != "":
		known = slices.Clone(u.Known)
		if u.Old != "" && !u.RejudgeOld {
			known = append(known, u.Old)
		}
	case s.Base.ID != "":
		known = []string{s.Base.ID}
	}
	var err error
	r.Learned.Commits, err = r.Source.Commits(ctx, []string{s.Tip.ID}, known)
	r.Examined().Commits += len(r.Learned.Commits)
	return err
}

// noteNoWorkspace notes that the tip has neither a workspace nor a configured log, if nothing was examined.
func noteNoWorkspace(ctx context.Context, r *run.Run) error {
	if r.Learned.HasFamilyWork || len(r.Learned.Workspaces) > 0 || r.Examined().Workflows > 0 || len(r.Source.Policy.Logs) > 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Filter{Workspaces: true, Patterns: r.Source.Policy.Watched()})
	r.Account.NoWorkspace = !slices.ContainsFunc(files, func(f history.File) bool { return r.Source.Judges(f.Path) || r.Source.Policy.LogFor(f.Path) != nil })
	return err
}

// NoLog is the note for a history in which nothing was judged.
const NoLog = "there is no progress log in this history: nothing was there to judge"

// noteNoLog notes that a whole history has no log, or that the configuration excludes all of its logs.
func noteNoLog(ctx context.Context, r *run.Run) error {
	if r.Examined().Workspaces > 0 || len(r.Learned.Workspaces) > 0 || r.Examined().Workflows > 0 || len(r.Learned.Logs) > 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Filter{Workspaces: true, Patterns: r.Source.Policy.Watched()})
	if slices.ContainsFunc(files, func(f history.File) bool { return r.Source.Policy.LogFor(f.Path) != nil }) {
		return err
	}
	note := NoLog
	if slices.ContainsFunc(files, func(f history.File) bool { return read.IsProgress(f.Path) }) {
		note = "the configuration excludes every progress log of this history (workspaces: in " + policy.File + "): nothing was judged"
	}
	r.Examined().Notes = append(r.Examined().Notes, note)
	return err
}

// mergeResult judges the merge of a tip that was already judged, and leaves out findings that were reported then. The report's account stays
// that of the tip. Changes made only on the target are judged edge by edge; the target's own files are not part of this change.
func mergeResult(r *run.Run, merge string) run.Pass {
	r.Collector.Earlier = &finding.EarlierFindings{Seen: map[finding.FindingKey]int{}}
	return func(ctx context.Context, r *run.Run) error {
		head := r.Scope
		landed, err := r.Source.Changes(ctx, []history.Edge{{Parent: head.Base.ID, Child: merge}})
		if err != nil {
			return err
		}
		r.Learned.Note(r.Source, landed[0])
		fix := "`git fetch`, " + remedy.MergeWith(history.Short(head.Base.ID)) + ", `git push`"
		if head.Predicts {
			fix = remedy.MergeWith(head.Tip.Name)
		}
		over := r.Beside(run.Scope{Base: head.Base, Tip: history.Tip{ID: merge}, Fix: fix})
		if over.Learned.Commits, err = r.Source.Commits(ctx, []string{merge}, []string{head.Base.ID, head.Tip.ID}); err != nil {
			return err
		}
		r.Collector.SkipEarlier()
		if err := over.RunPasses(ctx, logs.JudgeCommits); err != nil {
			return err
		}
		over.Learned.Touched, over.Learned.AddsFiles = r.Learned.Touched, true
		r.Collector.SkipEarlier()
		r.Account.NoWorkspace = r.Account.NoWorkspace && len(r.Learned.Workspaces) == 0
		err = over.RunPasses(ctx, logs.JudgeTwins, workspaces.JudgeChanged, run.Families(run.AtTip), config.Judge)
		if head.Predicts { // otherwise those of the tip are already counted
			r.Examined().Workspaces = over.Examined().Workspaces
		}
		return err
	}
}

// ErrNothing is wrapped by the failure of a check that found nothing to judge.
var ErrNothing = errors.New("there is nothing to judge")

// checkSomething fails if there was nothing to judge.
func checkSomething(_ context.Context, r *run.Run) error {
	if r.Examined().Workspaces > 0 || r.Examined().Workflows > 0 || len(r.Account.Ledgers) > 0 || len(r.Collector.Report.Findings) > 0 {
		return nil
	}
	where, remedy := "here or below", "name a directory that has some with --dir"
	if !r.Scope.Recursive {
		where, remedy = "in this directory", "name the directory that has one with --dir, or check all below it with --recursive"
		if r.Scope.Dir != "" {
			where = "in " + r.Scope.Dir
		}
	}
	if len(r.Source.Policy.Logs) > 0 && (r.Options.PartOfTree || r.Scope.Dir != "") {
		remedy += "; `small-hook check --dir :/` judges the logs of the configuration"
	}
	what := "there is no .small/ directory "
	for _, w := range r.Source.Policy.Watchers() {
		what = "there is neither a .small/ directory nor a " + w.Noun() + " "
	}
	return &failure.Error{Message: what + where, Remedy: remedy, Err: ErrNothing}
}

// Do runs the passes that a command supplies, with every rule.
func Do(ctx context.Context, h history.History, opts run.Options, passes ...run.Pass) *finding.Report {
	return newRun(h, opts, run.Scope{}).Do(ctx, passes...)
}

// newRun returns a run over a history, with every rule and family.
func newRun(h history.History, opts run.Options, s run.Scope) *run.Run {
	r := withRules(run.New(h, opts, s))
	if x := r.Examined(); !history.Uncommitted(s.Tip.ID) {
		x.Base, x.Head = s.Base.ID, s.Tip.ID
	} else if len(s.Parents) > 0 {
		x.Base = s.Parents[0]
	}
	if opts.EachCommit {
		r.JudgeFilesOf = func(ctx context.Context, r *run.Run, commit string, touched run.Touched) error {
			at := r.Beside(run.Scope{Tip: history.Tip{ID: commit}})
			at.Learned.Touched, at.Account = touched, r.Account
			if err := workspaces.JudgeAt(ctx, r, commit, run.SortedKeys(touched.Workspaces)); err != nil {
				return err
			}
			return run.Families(run.AtTip)(ctx, at)
		}
	}
	return r
}

// newCheck returns a run over a tree without a history, with every rule and family.
func newCheck(tree history.Tree, opts run.Options, s run.Scope) *run.Run {
	return withRules(run.NewCheck(tree, opts, s))
}

// withRules adds every rule and family to a run.
func withRules(r *run.Run) *run.Run {
	r.Collector.Rules, r.Known = catalogue.List(), catalogue.Known
	r.AddFamilies(rules.All)
	return r
}
