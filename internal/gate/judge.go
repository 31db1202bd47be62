package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/lanes"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/snapshots"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/gate/walk"
	"github.com/small-gate/small-gate/internal/gate/workflows"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// Check judges the workspace in one directory of a tree, as it is, and the
// directory's workflows. A directory that has neither a .small directory nor,
// where workflows are configured, one of those cannot be judged.
func Check(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: revision}, Dir: dir}
	return run.NewCheck(tree, opts, s).Do(ctx, snapshots.Here, checkWorkflowsHere, checkSomething, judgePolicy)
}

// CheckAll judges every workspace at or below a directory of a tree ("" for all of
// it) that the policy does not exclude, and the workflows there.
func CheckAll(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: revision}, Dir: dir, Recursive: true}
	return run.NewCheck(tree, opts, s).Do(ctx, snapshots.Below, checkWorkflowsBelow, checkSomething, judgePolicy)
}

// Pending judges the index against its parents: HEAD first, then the other
// sides of a merge. An unborn HEAD has no parents. Then it compares the logs that
// change with those of neighbours, as warnings.
func Pending(ctx context.Context, h history.History, parents []string, opts run.Options, neighbours ...subject.Neighbour) *finding.Report {
	r := run.New(h, opts, run.Scope{Tip: history.Tip{ID: history.Index}, Parents: parents, Neighbours: neighbours})
	if len(parents) > 0 {
		r.Examined().Base = parents[0]
	}
	return r.Do(ctx, lanes.ClaimIndex, walk.JudgeIndex, snapshots.Changed, workflows.Judge, lanes.Judge, walk.CompareNeighbours, judgePolicy)
}

// WorkTree judges the logs of the work tree against its parents, HEAD first and then what is being merged. If its branch was moved away from
// a commit, left, they are judged against that too; fork is then the last commit before those that are there instead.
func WorkTree(ctx context.Context, h history.History, parents []string, left, fork string, opts run.Options) *finding.Report {
	s := run.Scope{Base: history.Tip{ID: fork}, Tip: history.Tip{ID: history.WorkTree}, Parents: parents}
	s.Update = history.Update{Old: left, New: history.WorkTree, Target: history.Tip{ID: fork}}
	r := run.New(h, opts, s)
	if len(parents) > 0 {
		r.Examined().Base = parents[0]
	}
	return r.Do(ctx, walk.JudgeWorkTree, walk.CompareLeft)
}

// Appended judges the entries of a log from one on, counted from 0, that are about to be written. fix is what to do instead.
func Appended(ctx context.Context, tree history.Tree, path string, log *ledger.Ledger, from int, fix string, opts run.Options) *finding.Report {
	return run.NewCheck(tree, opts, run.Scope{}).Do(ctx, func(_ context.Context, r *run.Run) error {
		e := &subject.LogChange{Path: path, Fix: fix, Comparison: &ledger.Comparison{Old: log, New: log, Relation: ledger.Extended, ReconcileEntry: -1}}
		e.Commit, e.Clock, e.Strict = history.WorkTree, r.Options.Now, r.Collector.Strict
		for ; from < log.Len(); from++ {
			e.NewEntries = append(e.NewEntries, from)
		}
		r.Collector.Judge(e)
		return nil
	})
}

// Lost judges what is gone of a log since a guarded writer recorded it: entries of noted that no commit has, and that the index lacks too.
func Lost(ctx context.Context, tree history.Tree, path string, noted, index *ledger.Ledger, gone []ledger.Entry, opts run.Options) *finding.Report {
	return run.NewCheck(tree, opts, run.Scope{}).Do(ctx, func(_ context.Context, r *run.Run) error {
		if !r.Source.Judges(path) {
			return nil
		}
		e := &subject.LogChange{Path: path, Uncommitted: true, Comparison: &ledger.Comparison{Old: noted, New: index, Relation: ledger.Rewritten, ReconcileEntry: -1}}
		e.Commit, e.Clock = history.Index, r.Options.Now
		restore := "small-hook restore" + subject.InDirectory(path)
		e.Fix = "`" + restore + "`, then commit again; if it was dropped on purpose, " + restore + " --discard-new drops all that is not committed"
		for _, lost := range gone {
			e.Edits = append(e.Edits, ledger.Edit{Kind: ledger.EditDeleted, OldIndex: lost.Index, NewIndex: -1})
		}
		r.Collector.Judge(e)
		return nil
	})
}

// Made judges the commits that head has and none of some known ones reaches, and then head's snapshot of the workspaces that they changed.
// base is a commit before them; empty if there is none.
func Made(ctx context.Context, h history.History, base, head string, known []string, opts run.Options) *finding.Report {
	s := run.Scope{Base: history.Tip{ID: base}, Tip: history.Tip{ID: head}, Update: history.Update{New: head, Known: known}}
	r := run.New(h, opts, s)
	r.Examined().Base, r.Examined().Head = base, head
	return r.Do(ctx, listCommits, lanes.ClaimPushed, walk.JudgeCommits, snapshots.Changed, workflows.Judge, lanes.Judge, judgePolicy)
}

// CheckAgainst is Check, or CheckAll if recursive, of the work tree, and judges its logs there against a commit, which may be head.
func CheckAgainst(ctx context.Context, h history.History, base, head, dir string, recursive bool, opts run.Options) *finding.Report {
	s := run.Scope{Tip: history.Tip{ID: history.WorkTree}, Parents: []string{base}, Dir: dir, Recursive: recursive}
	if base != head {
		s.Against = base
	}
	look := snapshots.Here
	s.Logs = func(path string) bool { return path == small.Progress.Path(dir) }
	if recursive {
		look = snapshots.Below
		s.Logs = func(path string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") }
	}
	r := run.New(h, opts, s)
	r.Examined().Base = base
	return r.Do(ctx, walk.JudgeWorkTree, look, func(ctx context.Context, r *run.Run) error {
		if len(r.Collector.Report.Findings) > 0 {
			return nil // a workspace may be gone
		}
		return checkSomething(ctx, r)
	}, judgePolicy)
}

// rangePasses judge every commit that the tip has and the base lacks, then the two as
// target and head, then the tip's snapshot of the workspaces that changed.
var rangePasses = []run.Pass{listCommits, lanes.ClaimRange, walk.JudgeCommits, walk.CompareTips, snapshots.Changed, workflows.Judge, lanes.Judge, judgePolicy, noteNoWorkspace}

// Range judges every commit that head has and base lacks, then the two tips as
// target and head, then head's snapshot of the workspaces that changed.
func Range(ctx context.Context, h history.History, base, head string, opts run.Options) *finding.Report {
	return rangeRun(h, base, head, opts).Do(ctx, rangePasses...)
}

func rangeRun(h history.History, base, head string, opts run.Options) *run.Run {
	r := run.New(h, opts, run.Scope{Base: history.Tip{ID: base, Name: history.Short(base)}, Tip: history.Tip{ID: head, Name: history.Short(head)}})
	r.Examined().Base, r.Examined().Head = base, head
	return r
}

// RangeInto judges a range as Range does, and then merge, which a CI system has
// made of head and base: first the edges of every commit that only merge has, as
// those of any commit are judged, then its snapshot. Two changes, each of them
// sound, can be unsound together, and what was made need not be what git would
// make. What is reported of head already is not reported again.
func RangeInto(ctx context.Context, h history.History, base, head, merge string, opts run.Options) *finding.Report {
	r := rangeRun(h, base, head, opts)
	r.Examined().Merge = merge
	if merge == head {
		return r.Do(ctx, rangePasses...)
	}
	r.Collector.Earlier = &finding.EarlierFindings{Seen: map[finding.FindingKey]int{}}
	return r.Do(ctx, append(slices.Clone(rangePasses), func(ctx context.Context, r *run.Run) error { return mergeResult(ctx, r, merge) })...)
}

// Audit judges every commit of a revision's history and all of its
// workspaces.
func Audit(ctx context.Context, h history.History, head string, opts run.Options) *finding.Report {
	r := run.New(h, opts, run.Scope{Tip: history.Tip{ID: head}, Whole: true})
	r.Examined().Head = head
	// Each file of the tree came with some commit, so that all workflows have changed.
	return r.Do(ctx, listCommits, walk.JudgeCommits, lanes.JudgeLandings, snapshots.All, workflows.Judge, judgePolicy, adviseExclude, noteNoLog)
}

// Lasting judges every commit of the tips' histories for what stays wrong for good. Files are not judged.
func Lasting(ctx context.Context, h history.History, tips []string, opts run.Options) *finding.Report {
	opts.Lasting = true
	list := func(ctx context.Context, r *run.Run) (err error) {
		r.Scope.Commits, err = r.Source.Commits(ctx, tips, nil)
		r.Examined().Commits = len(r.Scope.Commits)
		return err
	}
	return run.New(h, opts, run.Scope{Tip: history.Tip{ID: tips[0]}, Whole: true}).Do(ctx, list, walk.JudgeCommits)
}

// Push judges one ref's move: every commit that it brings, edge by edge; then
// the old tip against the new one, so that a forced move that drops a
// published entry is found even where no edge shows it; then the new tip's
// snapshot of the workspaces that changed; and last, as warnings, the new tip
// against the default branch.
func Push(ctx context.Context, h history.History, u history.Update, opts run.Options) *finding.Report {
	r := run.New(h, opts, run.Scope{Base: history.Tip{ID: u.Old}, Tip: history.Tip{ID: u.New}, Update: u})
	r.Examined().Base, r.Examined().Head = u.Old, u.New
	return r.Do(ctx, listCommits, lanes.ClaimPushed, walk.JudgeCommits, walk.CompareOldTip, snapshots.Changed, workflows.Judge, lanes.Judge, judgePolicy, walk.CompareTarget)
}

// MergeCheck predicts what a merge of theirs into ours will come to, by the two
// tips and where they parted, and judges no commit. What a side did to the log's
// common past is reported of that side: git takes it over without a word where the
// other side did nothing. Where one tip descends from the other there is no
// fork, and only that is reported.
func MergeCheck(ctx context.Context, h history.History, ours, theirs, oursName, theirsName string, opts run.Options) *finding.Report {
	r := run.New(h, opts, run.Scope{Base: history.Tip{ID: ours, Name: oursName}, Tip: history.Tip{ID: theirs, Name: theirsName}, Predicts: true})
	r.Examined().Base, r.Examined().Head = ours, theirs
	return r.Do(ctx, walk.CompareSides, walk.CompareFork)
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
	s.Commits, err = r.Source.Commits(ctx, []string{s.Tip.ID}, known)
	r.Examined().Commits += len(s.Commits)
	return err
}

// noteNoWorkspace notes that the tip has no workspace at all, where nothing was
// examined.
func noteNoWorkspace(ctx context.Context, r *run.Run) error {
	claimed := slices.ContainsFunc(r.Scope.Lanes, (*subject.LaneChange).Claimed)
	if len(r.Scope.Workspaces) > 0 || claimed || r.Examined().Workflows > 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Workspaces())
	r.Collector.Report.NoWorkspace = !slices.ContainsFunc(files, func(f history.File) bool { return r.Source.Judges(f.Path) })
	return err
}

// NoLog is the note of a history in which nothing was judged.
const NoLog = "there is no progress log in this history: nothing was there to judge"

// noteNoLog notes that a whole history has no log, and never had one.
func noteNoLog(_ context.Context, r *run.Run) error {
	if r.Examined().Workspaces == 0 && len(r.Scope.Workspaces) == 0 && r.Examined().Workflows == 0 {
		r.Examined().Notes = append(r.Examined().Notes, NoLog)
	}
	return nil
}

// mergeResult judges what was made of a tip that was judged before. The tip's
// commits, workspaces and logs stay what was examined. Of what the target alone has
// changed the edges tell what the merge does to it; its snapshot is not this
// change's.
func mergeResult(ctx context.Context, r *run.Run, merge string) error {
	head := r.Scope
	landed, err := r.Source.Changes(ctx, []history.Edge{{Parent: head.Base.ID, Child: merge}})
	if err != nil {
		return err
	}
	for _, c := range landed[0] {
		head.Note(r.Source, c.Path)
	}
	commits, err := r.Source.Commits(ctx, []string{merge}, []string{head.Base.ID, head.Tip.ID})
	if err != nil {
		return err
	}
	examined, ledgers := *r.Examined(), r.Collector.Report.Ledgers
	over := *r
	over.Scope = &run.Scope{Base: head.Base, Tip: history.Tip{ID: merge}, Commits: commits, Fix: "`git fetch`, " + subject.MergeWith(history.Short(head.Base.ID)) + ", `git push`", Workspaces: map[string]bool{}, Workflows: map[string]bool{}}
	r.Collector.SkipEarlier()
	if err := over.All(ctx, walk.JudgeCommits); err != nil {
		return err
	}
	over.Scope.Workspaces, over.Scope.Workflows = head.Workspaces, head.Workflows
	r.Collector.SkipEarlier()
	err = over.All(ctx, snapshots.Changed, workflows.Judge, judgePolicy)
	*r.Examined(), r.Collector.Report.Ledgers = examined, ledgers
	r.Collector.Report.NoWorkspace = r.Collector.Report.NoWorkspace && len(head.Workspaces) == 0
	return err
}

// ErrNothing is in the chain of the failure of a check that found nothing to
// judge.
var ErrNothing = errors.New("there is nothing to judge")

func checkWorkflowsHere(ctx context.Context, r *run.Run) error {
	return workflows.Below(ctx, r, workflows.WatchedIn(r, r.Scope.Dir))
}

func checkWorkflowsBelow(ctx context.Context, r *run.Run) error {
	return workflows.Below(ctx, r, r.Source.Policy.Workflows.Watched())
}

// checkSomething fails where there was nothing to judge.
func checkSomething(_ context.Context, r *run.Run) error {
	if r.Examined().Workspaces > 0 || r.Examined().Workflows > 0 {
		return nil
	}
	where, remedy := "here or below", "name a directory that has some with --dir"
	if !r.Scope.Recursive {
		where, remedy = "in this directory", "if it was deleted: `small-hook restore`; else name the directory that has one with --dir, or check all below it with --recursive"
		if r.Scope.Dir != "" {
			where = "in " + r.Scope.Dir
		}
	}
	what := "there is no .small/ directory "
	if r.Source.Policy.Workflows.Configured {
		what = "there is neither a .small/ directory nor a workflow "
	}
	return &failure.Error{Message: what + where, Remedy: remedy, Err: ErrNothing}
}
