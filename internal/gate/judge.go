package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/small"
)

// Check judges the workspace in one directory of a tree, as it is, and the
// directory's workflows. A directory that has neither a .small directory nor,
// where workflows are configured, one of those cannot be judged.
func Check(ctx context.Context, tree Tree, revision, dir string, opts Options) *Report {
	s := scope{tip: Tip{ID: revision}, dir: dir}
	return newCheck(tree, opts, s).do(ctx, checkWorkspaceHere, checkWorkflowsHere, checkSomething, judgePolicy)
}

// CheckAll judges every workspace at or below a directory of a tree ("" for all of
// it) that the policy does not exclude, and the workflows there.
func CheckAll(ctx context.Context, tree Tree, revision, dir string, opts Options) *Report {
	s := scope{tip: Tip{ID: revision}, dir: dir, recursive: true}
	return newCheck(tree, opts, s).do(ctx, checkWorkspacesBelow, checkWorkflowsBelow, checkSomething, judgePolicy)
}

// Pending judges the index against its parents: HEAD first, then the other
// sides of a merge. An unborn HEAD has no parents. Then it compares the logs that
// change with those of neighbours, as warnings.
func Pending(ctx context.Context, h History, parents []string, opts Options, neighbours ...Neighbour) *Report {
	r := newRun(h, opts, scope{tip: Tip{ID: Index}, parents: parents, neighbours: neighbours})
	if len(parents) > 0 {
		r.examined().Base = parents[0]
	}
	return r.do(ctx, claimPending, walkIndex, judgeTouched, judgeWorkflows, judgeLanes, compareNeighbours, judgePolicy)
}

// rangePasses judge every commit that the tip has and the base lacks, then the two as
// target and head, then the tip's snapshot of the workspaces that changed.
var rangePasses = []pass{listCommits, claimRange, walkCommits, compareTips, judgeTouched, judgeWorkflows, judgeLanes, judgePolicy, noteNoWorkspace}

// Range judges every commit that head has and base lacks, then the two tips as
// target and head, then head's snapshot of the workspaces that changed.
func Range(ctx context.Context, h History, base, head string, opts Options) *Report {
	return rangeRun(h, base, head, opts).do(ctx, rangePasses...)
}

func rangeRun(h History, base, head string, opts Options) *run {
	r := newRun(h, opts, scope{base: Tip{ID: base, Name: short(base)}, tip: Tip{ID: head, Name: short(head)}})
	r.examined().Base, r.examined().Head = base, head
	return r
}

// RangeInto judges a range as Range does, and then merge, which a CI system has
// made of head and base: first the edges of every commit that only merge has, as
// those of any commit are judged, then its snapshot. Two changes, each of them
// sound, can be unsound together, and what was made need not be what git would
// make. What is reported of head already is not reported again.
func RangeInto(ctx context.Context, h History, base, head, merge string, opts Options) *Report {
	r := rangeRun(h, base, head, opts)
	r.examined().Merge = merge
	if merge == head {
		return r.do(ctx, rangePasses...)
	}
	r.out.earlier = &earlierFindings{times: map[findingKey]int{}}
	return r.do(ctx, append(slices.Clone(rangePasses), func(r *run, ctx context.Context) error { return mergeResult(r, ctx, merge) })...)
}

// Audit judges every commit of a revision's history and all of its
// workspaces.
func Audit(ctx context.Context, h History, head string, opts Options) *Report {
	r := newRun(h, opts, scope{tip: Tip{ID: head}, whole: true})
	r.examined().Head = head
	// Each file of the tree came with some commit, so that all workflows have changed.
	return r.do(ctx, listCommits, walkCommits, judgeUntried, judgeEvery, judgeWorkflows, judgePolicy)
}

// Push judges one ref's move: every commit that it brings, edge by edge; then
// the old tip against the new one, so that a forced move that drops a
// published entry is found even where no edge shows it; then the new tip's
// snapshot of the workspaces that changed; and last, as warnings, the new tip
// against the default branch.
func Push(ctx context.Context, h History, u Update, opts Options) *Report {
	r := newRun(h, opts, scope{base: Tip{ID: u.Old}, tip: Tip{ID: u.New}, update: u})
	r.examined().Base, r.examined().Head = u.Old, u.New
	return r.do(ctx, listCommits, claimPushed, walkCommits, compareReplaced, judgeTouched, judgeWorkflows, judgeLanes, judgePolicy, compareTarget)
}

// MergeCheck predicts what a merge of theirs into ours will come to, by the two
// tips and where they parted, and judges no commit. What a side did to the log's
// common past is reported of that side: git takes it over without a word where the
// other side did nothing. Where one tip descends from the other there is no
// fork, and only that is reported.
func MergeCheck(ctx context.Context, h History, ours, theirs, oursName, theirsName string, opts Options) *Report {
	r := newRun(h, opts, scope{base: Tip{ID: ours, Name: oursName}, tip: Tip{ID: theirs, Name: theirsName}, predicts: true})
	r.examined().Base, r.examined().Head = ours, theirs
	return r.do(ctx, compareSides, compareFork)
}

// listCommits lists the commits that are to be judged.
func listCommits(r *run, ctx context.Context) error {
	s := r.scope
	var known []string
	switch u := s.update; {
	case u.New != "":
		known = slices.Clone(u.Known)
		if u.Old != "" && !u.Again {
			known = append(known, u.Old)
		}
	case s.base.ID != "":
		known = []string{s.base.ID}
	}
	var err error
	s.commits, err = r.src.history.Commits(ctx, []string{s.tip.ID}, known)
	r.examined().Commits += len(s.commits)
	return err
}

// noteNoWorkspace notes that the tip has no workspace at all, where nothing was
// examined.
func noteNoWorkspace(r *run, ctx context.Context) error {
	claimed := slices.ContainsFunc(r.scope.lanes, (*LaneChange).claimed)
	if len(r.scope.workspaces) > 0 || claimed || r.examined().Workflows > 0 {
		return nil
	}
	files, err := r.src.tree.Files(ctx, r.scope.tip.ID)
	r.out.report.NoWorkspace = !slices.ContainsFunc(files, func(f File) bool { return r.src.judges(f.Path) })
	return err
}

// mergeResult judges what was made of a tip that was judged before. The tip's
// commits, workspaces and logs stay what was examined. Of what the target alone has
// changed the edges tell what the merge does to it; its snapshot is not this
// change's.
func mergeResult(r *run, ctx context.Context, merge string) error {
	head := r.scope
	landed, err := r.src.history.Changes(ctx, []Edge{{Parent: head.base.ID, Child: merge}})
	if err != nil {
		return err
	}
	for _, c := range landed[0] {
		head.note(r.src, c.Path)
	}
	commits, err := r.src.history.Commits(ctx, []string{merge}, []string{head.base.ID, head.tip.ID})
	if err != nil {
		return err
	}
	examined, ledgers := *r.examined(), r.out.report.Ledgers
	over := *r
	over.scope = &scope{base: head.base, tip: Tip{ID: merge}, commits: commits, workspaces: map[string]bool{}, workflows: map[string]bool{}}
	r.out.onlyNew()
	if err := over.all(ctx, walkCommits); err != nil {
		return err
	}
	over.scope.workspaces, over.scope.workflows = head.workspaces, head.workflows
	r.out.onlyNew()
	err = over.all(ctx, judgeTouched, judgeWorkflows, judgePolicy)
	*r.examined(), r.out.report.Ledgers = examined, ledgers
	r.out.report.NoWorkspace = r.out.report.NoWorkspace && len(head.workspaces) == 0
	return err
}

// ErrNothing is in the chain of the failure of a check that found nothing to
// judge.
var ErrNothing = errors.New("there is nothing to judge")

func checkWorkspaceHere(r *run, ctx context.Context) error {
	s := r.scope
	files, err := r.src.tree.Files(ctx, s.tip.ID, s.dir)
	if err != nil {
		return err
	}
	_, byDir := groupByWorkspace(files)
	if len(byDir[s.dir]) == 0 {
		return nil
	}
	w, err := r.src.readWorkspace(ctx, s.dir, byDir[s.dir])
	if err != nil {
		return err
	}
	r.judgeWorkspace(w, s.tip.ID)
	return r.noteUnions(ctx, s.tip.ID, []string{s.dir})
}

func checkWorkspacesBelow(r *run, ctx context.Context) error {
	files, err := r.src.tree.Files(ctx, r.scope.tip.ID)
	if err != nil {
		return err
	}
	return r.snapshotsOf(ctx, r.scope.tip.ID, below(files, r.scope.dir))
}

func checkWorkflowsHere(r *run, ctx context.Context) error {
	return workflowsBelow(r, ctx, watchedIn(r, r.scope.dir))
}

func checkWorkflowsBelow(r *run, ctx context.Context) error {
	return workflowsBelow(r, ctx, r.src.policy.Workflows.Watched())
}

// checkSomething fails where there was nothing to judge.
func checkSomething(r *run, _ context.Context) error {
	if r.examined().Workspaces > 0 || r.examined().Workflows > 0 {
		return nil
	}
	where, remedy := "here or below", "name a directory that has some with --dir"
	if !r.scope.recursive {
		where, remedy = "in this directory", "name the directory that has one with --dir, or check all below it with --recursive"
		if r.scope.dir != "" {
			where = "in " + r.scope.dir
		}
	}
	what := "there is no .small/ directory "
	if r.src.policy.Workflows.Configured {
		what = "there is neither a .small/ directory nor a workflow "
	}
	return &Failure{Message: what + where, Remedy: remedy, Err: ErrNothing}
}

// below are those of some files that lie below a directory, "" for the root.
func below(files []File, dir string) []File {
	return slices.DeleteFunc(files, func(f File) bool { return dir != "" && !strings.HasPrefix(f.Path, dir+"/") })
}

// note notes that a path has changed.
func (s *scope) note(src *source, path string) {
	if src.isWorkflowOrRecord(path) {
		s.workflows[path] = true
	}
	if dir, in := small.WorkspaceOf(path); in && src.judges(path) {
		s.workspaces[dir] = true
	}
}
