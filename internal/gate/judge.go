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
	j := newJudgement(nil, opts)
	return j.finish(j.check(ctx, tree, revision, dir))
}

func (j *judgement) check(ctx context.Context, tree Tree, revision, dir string) error {
	files, err := tree.Files(ctx, revision, dir)
	if err != nil {
		return err
	}
	_, byDir := groupByWorkspace(files)
	here := byDir[dir]
	if len(here) > 0 {
		if err := j.workspace(ctx, tree, revision, dir, here); err != nil {
			return err
		}
		if err := j.noteUnions(ctx, tree, revision, []string{dir}); err != nil {
			return err
		}
	}
	if err := j.workflowsBelow(ctx, tree, revision, dir, j.watchedIn(dir)); err != nil {
		return err
	}
	if len(here) == 0 && j.report.Examined.Workflows == 0 {
		return j.nothing("in "+dirWords(dir), "name the directory that has one with --dir, or check all below it with --recursive")
	}
	j.judgePolicy(false)
	return nil
}

func dirWords(dir string) string {
	if dir == "" {
		return "this directory"
	}
	return dir
}

// CheckAll judges every workspace at or below a directory of a tree ("" for all of
// it) that the policy does not exclude, and the workflows there.
func CheckAll(ctx context.Context, tree Tree, revision, dir string, opts Options) *Report {
	j := newJudgement(nil, opts)
	return j.finish(j.checkAll(ctx, tree, revision, dir))
}

func (j *judgement) checkAll(ctx context.Context, tree Tree, revision, dir string) error {
	files, err := tree.Files(ctx, revision)
	if err != nil {
		return err
	}
	if err := j.snapshotOf(ctx, tree, revision, below(files, dir)); err != nil {
		return err
	}
	if err := j.workflowsBelow(ctx, tree, revision, dir, j.opts.Policy.Workflows.Watched()); err != nil {
		return err
	}
	if j.report.Examined.Workspaces == 0 && j.report.Examined.Workflows == 0 {
		return j.nothing("here or below", "name a directory that has some with --dir")
	}
	j.judgePolicy(false)
	return nil
}

// ErrNothing is in the chain of the failure of a check that found nothing to
// judge.
var ErrNothing = errors.New("there is nothing to judge")

// below are those of some files that lie below a directory, "" for the root.
func below(files []File, dir string) []File {
	return slices.DeleteFunc(files, func(f File) bool { return dir != "" && !strings.HasPrefix(f.Path, dir+"/") })
}

// nothing says that there is nothing to judge in a place.
func (j *judgement) nothing(where, remedy string) error {
	what := "there is no .small/ directory "
	if j.opts.Policy.Workflows.Configured {
		what = "there is neither a .small/ directory nor a workflow "
	}
	return &Failure{Message: what + where, Remedy: remedy, Err: ErrNothing}
}

// Pending judges the index against its parents: HEAD first, then the other
// sides of a merge. An unborn HEAD has no parents. Then it compares the logs that
// change with those of neighbours, as warnings.
func Pending(ctx context.Context, h History, parents []string, opts Options, neighbours ...Neighbour) *Report {
	j := newJudgement(h, opts)
	j.tip = Index
	if len(parents) > 0 {
		j.report.Examined.Base = parents[0]
		j.trust(parents[0])
	}
	err := j.claimPending(ctx, parents)
	if err == nil {
		err = j.walk(ctx, []node{{id: Index, parents: parents}})
	}
	if err == nil {
		err = j.snapshot(ctx, h, Index, sortedKeys(j.touched))
	}
	if err == nil {
		err = j.workflows(ctx, h, Index, j.changedWorkflows)
	}
	if err == nil {
		err = j.judgeLanes(ctx)
	}
	if err == nil {
		err = j.beside(ctx, parents, neighbours)
	}
	if err == nil {
		j.judgePolicy(false)
	}
	return j.finish(err)
}

// Range judges every commit that head has and base lacks, then the two tips as
// target and head, then head's snapshot of the workspaces that changed.
func Range(ctx context.Context, h History, base, head string, opts Options) *Report {
	j := newJudgement(h, opts)
	j.tip, j.report.Examined.Base, j.report.Examined.Head = head, base, head
	j.trust(base)
	return j.finish(j.rangeOf(ctx, base, head))
}

func (j *judgement) rangeOf(ctx context.Context, base, head string) error {
	commits, err := j.list(ctx, []string{head}, []string{base})
	if err != nil {
		return err
	}
	if err := j.claimLaneOf(ctx, base, head, true, commits); err != nil {
		return err
	}
	if err := j.walkAll(ctx, commits); err != nil {
		return err
	}
	j.walked = true
	if err := j.tips(ctx, base, head, short(base), short(head)); err != nil {
		return err
	}
	if err := j.snapshot(ctx, j.history, head, sortedKeys(j.touched)); err != nil {
		return err
	}
	if err := j.workflows(ctx, j.history, head, j.changedWorkflows); err != nil {
		return err
	}
	if err := j.judgeLanes(ctx); err != nil {
		return err
	}
	j.judgePolicy(false)
	if len(j.touched) > 0 || j.lane != nil || j.report.Examined.Workflows > 0 {
		return nil
	}
	files, err := j.history.Files(ctx, head)
	j.report.NoWorkspace = !slices.ContainsFunc(files, func(f File) bool { return j.judges(f.Path) })
	return err
}

// Audit judges every commit of a revision's history and all of its
// workspaces.
func Audit(ctx context.Context, h History, head string, opts Options) *Report {
	j := newJudgement(h, opts)
	j.tip, j.report.Examined.Head = head, head
	j.whole = true
	j.trust(head)
	commits, err := j.list(ctx, []string{head}, nil)
	if err == nil {
		err = j.walkAll(ctx, commits)
	}
	if err == nil {
		err = j.judgeUntried(ctx, head, commits)
	}
	if err == nil {
		err = j.snapshot(ctx, h, head, nil)
	}
	if err == nil {
		err = j.workflows(ctx, h, head, j.changedWorkflows) // each file of the tree came with some commit
	}
	j.policyChange = Change{} // a history's own configurations are no change to it
	if err == nil {
		j.judgePolicy(true)
	}
	return j.finish(err)
}

// list lists the commits between exclude and include, which are to be judged.
func (j *judgement) list(ctx context.Context, include, exclude []string) ([]Commit, error) {
	commits, err := j.history.Commits(ctx, include, exclude)
	j.report.Examined.Commits += len(commits)
	return commits, err
}

// walkAll judges every edge of the commits.
func (j *judgement) walkAll(ctx context.Context, commits []Commit) error {
	nodes := make([]node, len(commits))
	for i, c := range commits {
		nodes[i] = node{id: c.ID, parents: c.Parents}
	}
	return j.walk(ctx, nodes)
}

// tips compares the logs of two branches.
func (j *judgement) tips(ctx context.Context, target, head, targetName, headName string) error {
	changes, err := j.history.Changes(ctx, []Edge{{Parent: target, Child: head}})
	if err != nil {
		return err
	}
	pairs, err := j.pairs(ctx, target, head, changes[0])
	if err != nil {
		return err
	}
	for _, p := range pairs {
		t, err := j.tipsOf(ctx, p, target, head)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		t.targetName, t.headName, t.switches = targetName, headName, j.isRecord(t.path)
		t.merge = j.toMerge(Tip{ID: target, Name: targetName}, Tip{ID: head, Name: headName})
		j.judgeTips(t, Edge{Parent: target, Child: head})
	}
	return j.fork(ctx, target, head, targetName, headName, changes[0])
}

// walkedBetween reports whether the head descends from the target and every
// commit on the way has been judged: then each edge has said what became of the
// target's entries, and nobody else has written. It is asked of two tips that
// differ in more than an append.
func (j *judgement) walkedBetween(ctx context.Context, t *tipsView, target, head string) (bool, error) {
	if t.outcome == tipsFine || !j.walked || j.tookAnother {
		return false, nil
	}
	bases, err := j.history.MergeBases(ctx, target, head)
	return slices.Contains(bases, target), err
}

func (j *judgement) judgeTips(t *tipsView, edge Edge) {
	r := &reporter{commit: edge.Child, parent: edge.Parent}
	for i := range rules {
		if rules[i].Tips == nil {
			continue
		}
		r.rule = &rules[i]
		rules[i].Tips(t, r)
	}
	j.add(r.out)
}

// explained are the entries of a log that were edited and of which findings speak
// and, if wanted, what the edits made of them. Waived edits are left out, which
// count as equal anyway.
func (j *judgement) explained(path string, withNew bool) map[small.Digest]bool {
	entries := map[small.Digest]bool{}
	for key, i := range j.reported {
		if key.path != path || severities[i] == severityWaived {
			continue
		}
		entries[key.from] = true
		if withNew {
			entries[key.to] = true
		}
	}
	delete(entries, small.Digest{}) // where there was none
	return entries
}

// Nothing is the report of a change that touches nothing of interest.
func Nothing(opts Options) *Report { return newJudgement(nil, opts).finish(nil) }
