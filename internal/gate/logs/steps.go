package logs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// StepOf returns the part of a commit by which a stanza's logs are judged. If byStep says that they are judged by steps, this is the first edge of a
// commit on the default branch's first-parent line, and nil for a commit that is part of a longer step.
func StepOf(ctx context.Context, r *run.Run, s *read.Step, stanza *policy.Log, byStep func(*policy.Log) bool) (*read.Step, error) {
	if !byStep(stanza) || s.Whole {
		return s, nil
	}
	steps, err := r.Steps(ctx)
	switch {
	case err != nil || steps == nil:
		return s, err
	case steps.OnLine(s.ID):
		return s.FirstEdge(), nil
	}
	return nil, nil
}

// JudgeBranch judges a branch's changes since its merge base with its target as one step, in the logs that are judged by steps (see run.Steps). For
// the index and the work tree it judges only files that differ from a parent.
func JudgeBranch(ctx context.Context, r *run.Run) error {
	steps, err := r.Steps(ctx)
	if err != nil || steps == nil {
		return err
	}
	if err := judgeUnlisted(ctx, r, steps); err != nil || steps.Target.ID == "" {
		return err
	}
	b, err := branchOf(ctx, r, steps)
	if err != nil {
		return err
	}
	notJudged := func(c history.Change) bool { return !b.Judges(c.Path) }
	for i, base := range b.bases {
		if err := judgeAsStep(ctx, r, base.ID, slices.DeleteFunc(slices.Clone(b.ChangesByBase[i]), notJudged), false); err != nil {
			return err
		}
	}
	inTarget := slices.DeleteFunc(slices.Clone(b.targetChanges), func(c history.Change) bool { return c.Old.Mode == "" || notJudged(c) || !b.addedByBoth(r, c) })
	if err := judgeAsStep(ctx, r, steps.Target.ID, inTarget, false); err != nil {
		return err
	}
	b.Against = b.bases
	if isPush := r.Scope.Update.New != "" && !history.Uncommitted(r.Scope.Tip.ID); !isPush { // for a push CompareTarget does this, and only warns
		b.Against = append(slices.Clone(b.bases), steps.Target)
	}
	if err := r.Collector.Judge(ctx, b); err != nil {
		return err
	}
	return judgeDraftEdits(ctx, r)
}

// judgeAgainstTarget judges whether a branch's new files sort after the files of its target.
func judgeAgainstTarget(ctx context.Context, r *run.Run) error {
	steps, err := r.Steps(ctx)
	if err != nil || steps == nil || steps.Target.ID == "" {
		return err
	}
	b, err := branchOf(ctx, r, steps)
	if err != nil {
		return err
	}
	b.Against = []history.Tip{steps.Target}
	return r.Collector.Judge(ctx, b)
}

// Branch holds a branch's changes of the logs that are judged by steps.
type Branch struct {
	rule.Place
	Run *run.Run
	// ChangesByBase holds, for each merge base with the target, the changes from there to the tip.
	ChangesByBase [][]history.Change
	// Judges reports whether a path is judged: if the tip is not committed, only a path that differs from a parent of the tip.
	Judges func(path string) bool
	// Against are the commits whose files the branch's new files must sort after. A Tip without an ID is the empty tree, one with a name the target's
	// tip.
	Against []history.Tip
	// bases are the merge bases with the target; a Tip without an ID is the empty tree.
	bases []history.Tip
	// targetChanges are the changes from the target's tip to the branch's tip.
	targetChanges []history.Change
}

// branchOf returns the changes of the branch whose tip is judged.
func branchOf(ctx context.Context, r *run.Run, steps *run.Steps) (*Branch, error) {
	tip := r.Scope.Tip.ID
	b := &Branch{Place: rule.Place{Commit: tip}, Run: r}
	var err error
	if b.Judges, err = judgedPaths(ctx, r); err != nil {
		return nil, err
	}
	for _, id := range steps.Bases {
		b.bases = append(b.bases, history.Tip{ID: id})
	}
	if len(b.bases) == 0 {
		b.bases = []history.Tip{{}} // the histories are unrelated: all is new
	}
	var edges []history.Edge
	for _, base := range append(slices.Clone(b.bases), steps.Target) {
		edges = append(edges, history.Edge{Parent: base.ID, Child: tip})
	}
	changes, err := r.Source.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	for _, edge := range changes {
		b.ChangesByBase = append(b.ChangesByBase, slices.DeleteFunc(slices.Clone(edge), func(c history.Change) bool { return !r.Source.Policy.LogFor(c.Path).JudgedByStep() }))
	}
	b.ChangesByBase, b.targetChanges = b.ChangesByBase[:len(b.bases)], b.ChangesByBase[len(b.bases)]
	return b, nil
}

// judgedPaths returns a function that reports whether a path is judged: if the tip is not committed, only a path that differs from a parent.
func judgedPaths(ctx context.Context, r *run.Run) (func(path string) bool, error) {
	if !history.Uncommitted(r.Scope.Tip.ID) || len(r.Scope.Parents) == 0 {
		return func(string) bool { return true }, nil
	}
	changes, err := r.Source.Changes(ctx, history.EdgesOf(r.Scope.Tip.ID, r.Scope.Parents))
	return func(path string) bool {
		_, changed := history.ChangeIn(changes, path)
		return changed
	}, err
}

// addedByBoth reports whether the branch and its target each added the same file of a folder, so that no merge base has it. c is the change from the
// target, which has the file.
func (b *Branch) addedByBoth(r *run.Run, c history.Change) bool {
	if !r.Source.IsFileEntry(c.Path) || !r.Source.Policy.LogFor(c.Path).FrozenOnceMerged() {
		return false
	}
	return b.IsNew(c.Path)
}

// IsNew reports whether the branch added a file: no merge base has it.
func (b *Branch) IsNew(path string) bool {
	return !slices.ContainsFunc(b.ChangesByBase, func(edge []history.Change) bool { return !addedOn(edge, path) })
}

// TargetLacks reports whether the branch has a file that the target lacks.
func (b *Branch) TargetLacks(path string) bool { return addedOn(b.targetChanges, path) }

// addedOn reports whether an edge adds a file.
func addedOn(edge []history.Change, path string) bool {
	c, changed := history.ChangeAt(edge, path)
	return changed && c.Old.Mode == "" && c.New.Mode != ""
}

// JudgeAsSquash judges logs that a range moved or rotated as if the range was squashed into one commit. Each of its commits may be right by itself
// although two logs took each other's place, or a merge put entries of the target into the fresh log and not into the archive.
func JudgeAsSquash(ctx context.Context, r *run.Run) error {
	if len(r.Learned.Relocated) == 0 {
		return nil
	}
	bases, err := r.Source.History.MergeBases(ctx, r.Scope.Base.ID, r.Scope.Tip.ID)
	if err != nil {
		return err
	}
	for _, base := range bases {
		changes, err := r.Source.Changes(ctx, []history.Edge{{Parent: base, Child: r.Scope.Tip.ID}})
		if err != nil {
			return err
		}
		if err := judgeAsStep(ctx, r, base, changes[0], true); err != nil {
			return err
		}
	}
	return nil
}

// judgeAsStep judges logs on the edge from a commit to the tip, as one step: those whose entries are frozen once they are merged or, if squash, the
// others that moved or were rotated.
func judgeAsStep(ctx context.Context, r *run.Run, from string, changes []history.Change, squash bool) error {
	step := history.Commit{ID: r.Scope.Tip.ID}
	if from != "" {
		step.Parents = []string{from}
	}
	s, err := r.Source.NewStep(ctx, step, [][]history.Change{changes})
	if err != nil {
		return err
	}
	s.Whole = true
	if from != "" {
		s.Fix = func(path string) string {
			if squash {
				return oneCommitFix(r, from, path)
			}
			return putBackFix(r, from, path)
		}
	}
	for _, path := range history.PathsOf(s.Changes, func(path string) bool {
		merged := r.Source.Policy.LogFor(path).FrozenOnceMerged()
		return merged && !squash || !merged && squash && r.Learned.Relocated[path]
	}) {
		if r.Scope.Logs != nil && !r.Scope.Logs(path) {
			continue
		}
		added, err := judgeLog(ctx, r, s, path)
		if err != nil {
			return err
		}
		r.Learned.NoteOrigin(s.ID, added)
	}
	return nil
}

// putBackFix returns the fix for a log that a branch changed although its target has it. A new commit is enough, since the branch is judged as one
// step.
func putBackFix(r *run.Run, from, path string) string {
	commands := []string{remedy.RestoreFrom(path, history.Short(from))}
	if !history.Uncommitted(r.Scope.Tip.ID) {
		commands = append(commands, "git commit -m "+wording.ShellWord("Put back "+path)+" -- "+wording.TopPath(path))
	}
	return r.OnBranch(commands...)
}

// oneCommitFix returns the fix for a log that a squash of the branch would change. If one of its commits changes a log, that has to be mended first: most
// often nothing is left then. If none does, a new commit that puts the log back would itself change it.
func oneCommitFix(r *run.Run, from, path string) string {
	if rejectsCommit(r, from, func(path string) bool { return r.Source.Policy.LogFor(path) != nil }) {
		return "a squash of the branch would do this: " + remedy.MendFirst
	}
	base := history.Short(from)
	return fmt.Sprintf("a squash of the branch would do this: redo the commit that moved %s, so that one archive has every entry that the log has in %s; or make one commit of the branch: %s", wording.ShellWord(path), base,
		r.OnBranch("git reset --soft "+base, "small-hook restore"+remedy.InDirectory(path), "git commit -m "+wording.ShellWord("One commit, with "+path)))
}

// NameTip returns what messages call a tip.
func NameTip(tip history.Tip) string {
	if history.Uncommitted(tip.ID) {
		return "this change"
	}
	return cmp.Or(tip.Name, history.Short(tip.ID))
}

// judgeUnlisted judges commits that land with a push although the receiving side already had them on another branch, where they were drafts.
func judgeUnlisted(ctx context.Context, r *run.Run, steps *run.Steps) error {
	if len(steps.Unlisted) == 0 {
		return nil
	}
	changes, err := r.Source.ChangesOf(ctx, steps.Unlisted)
	if err != nil {
		return err
	}
	for i, c := range steps.Unlisted {
		edges := make([][]history.Change, len(changes[i]))
		for k, edge := range changes[i] {
			edges[k] = slices.DeleteFunc(slices.Clone(edge), func(x history.Change) bool { return !r.Source.Policy.LogFor(x.Path).JudgedByStep() })
		}
		s, err := r.Source.NewStep(ctx, c, edges)
		if err != nil {
			return err
		}
		if _, err := judgeLogs(ctx, r, s); err != nil {
			return err
		}
	}
	return nil
}

// DraftEdit is a commit of a branch that edits or drops an entry of an earlier commit. If the commit lands by itself, it is rejected.
type DraftEdit struct {
	rule.Place
	Path string
	// Dropped is true if the commit leaves no file that can be read.
	Dropped bool
	// Object is the file's blob in the commit; empty if the commit removes it.
	Object string
}

// noteDraftEdit notes s as a DraftEdit if it is the first commit of the range that edits or drops the draft at a path.
func noteDraftEdit(ctx context.Context, r *run.Run, s *read.Step, path string) error {
	if r.Scope.Base.ID == "" || r.Scope.Update.New != "" || len(s.Parents) != 1 || r.Learned.Drafts[path] != nil {
		return nil
	}
	steps, err := r.Steps(ctx)
	if err != nil || steps == nil || steps.Landed(s.ID) {
		return err
	}
	c, _ := history.ChangeAt(s.Changes[0], path)
	if _, moved := s.Moves[0][path]; moved || c.Old.Mode == "" || c.New.Mode == "" && s.Rotated(0, path) {
		return nil
	}
	child, parents, err := r.Source.ReadVersions(ctx, s, path)
	if err != nil || len(parents[0].Ledgers) == 0 {
		return err
	}
	before := parents[0].Ledgers[0]
	if child.Readable() {
		e, err := compareLogs(ctx, r, s.Commit, path, parents[0].Paths[0], before, child, parents, 0)
		if err != nil || e == nil || len(e.Edits) == 0 {
			return err
		}
	}
	r.Learned.Drafts[path] = &DraftEdit{Place: rule.Place{Commit: s.ID, Parent: s.Parents[0]}, Path: path, Dropped: !child.Readable(), Object: c.New.Object}
	return nil
}

// judgeDraftEdits judges the noted edits of drafts, except in logs of which another edit was reported.
func judgeDraftEdits(ctx context.Context, r *run.Run) error {
	for _, path := range slices.Sorted(maps.Keys(r.Learned.Drafts)) {
		if len(r.Collector.EditedEntries(path, true)) > 0 {
			continue
		}
		if err := r.Collector.Judge(ctx, r.Learned.Drafts[path]); err != nil {
			return err
		}
	}
	return nil
}
