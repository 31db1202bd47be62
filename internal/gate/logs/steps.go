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

// StepOf is the part of a commit by which a stanza's logs are judged in what concerns about: all its edges, or only the first if it has
// landed on the default branch; nil if the commit is part of a longer step.
func StepOf(ctx context.Context, r *run.Run, s *read.Step, stanza *policy.Log, about func(*policy.Log) bool) (*read.Step, error) {
	if !about(stanza) || s.Whole {
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

// JudgeBranch judges what a branch changed since its merge base with its target, as one step. It judges the logs whose stanzas ask for that;
// of the index and the work tree, only what differs from the first parent.
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
	others := func(c history.Change) bool { return !b.Judges(c.Path) }
	for i, base := range b.bases {
		if err := judgeSince(ctx, r, base.ID, slices.DeleteFunc(slices.Clone(b.Since[i]), others), false); err != nil {
			return err
		}
	}
	both := slices.DeleteFunc(slices.Clone(b.target), func(c history.Change) bool { return c.Old.Mode == "" || others(c) || !b.added(r, c) })
	if err := judgeSince(ctx, r, steps.Target.ID, both, false); err != nil {
		return err
	}
	b.Against = b.bases
	if pushes := r.Scope.Update.New != "" && !history.Uncommitted(r.Scope.Tip.ID); !pushes {
		b.Against = append(slices.Clone(b.bases), steps.Target)
	}
	if err := r.Collector.Judge(ctx, b); err != nil {
		return err
	}
	return judgeDrafts(ctx, r)
}

// compareBranch has a branch judged against its target, into which it is not merged yet.
func compareBranch(ctx context.Context, r *run.Run) error {
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

// Branch is what a branch changed in the logs that are judged by steps.
type Branch struct {
	rule.Place
	Run *run.Run
	// Since are its changes since each merge base with the target.
	Since [][]history.Change
	// Judges reports whether a path is judged: of what is not committed, only paths that it changes itself.
	Judges func(path string) bool
	// Against are the commits after whose files the branch's new ones have to stand. One without an ID is the empty tree; one with a name is
	// the target's tip.
	Against []history.Tip
	// bases are the merge bases, of which one without an ID stands for the empty tree.
	bases []history.Tip
	// target are the changes from the target's tip.
	target []history.Change
}

func branchOf(ctx context.Context, r *run.Run, steps *run.Steps) (*Branch, error) {
	tip := r.Scope.Tip.ID
	b := &Branch{Place: rule.Place{Commit: tip}, Run: r}
	var err error
	if b.Judges, err = changedByTip(ctx, r); err != nil {
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
		b.Since = append(b.Since, slices.DeleteFunc(slices.Clone(edge), func(c history.Change) bool { return !r.Source.Policy.LogFor(c.Path).ByStep() }))
	}
	b.Since, b.target = b.Since[:len(b.bases)], b.Since[len(b.bases)]
	return b, nil
}

// changedByTip says which paths the step of a tip is about: of what is not committed, those that it changes.
func changedByTip(ctx context.Context, r *run.Run) (func(path string) bool, error) {
	if !history.Uncommitted(r.Scope.Tip.ID) || len(r.Scope.Parents) == 0 {
		return func(string) bool { return true }, nil
	}
	changes, err := r.Source.Changes(ctx, history.EdgesOf(r.Scope.Tip.ID, r.Scope.Parents))
	return func(path string) bool {
		_, changed := history.ChangeIn(changes, path)
		return changed
	}, err
}

// added reports whether the branch added a file that its target has too, in another version: no merge base has it.
func (b *Branch) added(r *run.Run, c history.Change) bool {
	if !r.Source.IsFileEntry(c.Path) || !r.Source.Policy.LogFor(c.Path).FrozenMerged() {
		return false
	}
	return b.IsNew(c.Path)
}

// IsNew reports whether the tip has a file that no merge base has.
func (b *Branch) IsNew(path string) bool {
	return !slices.ContainsFunc(b.Since, func(edge []history.Change) bool { return !addedOn(edge, path) })
}

// TargetLacks reports whether the tip has a file that the target does not have.
func (b *Branch) TargetLacks(path string) bool { return addedOn(b.target, path) }

// addedOn reports whether an edge adds a file.
func addedOn(edge []history.Change, path string) bool {
	c, changed := history.ChangeAt(edge, path)
	return changed && c.Old.Mode == "" && c.New.Mode != ""
}

// JudgeAsOne judges what a range did to logs that it moved or rotated as one commit, as a squash makes it. Commit by commit two logs may take each
// other's place, or a merge may put what the target has into the fresh log and not into the archive.
func JudgeAsOne(ctx context.Context, r *run.Run) error {
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
		if err := judgeSince(ctx, r, base, changes[0], true); err != nil {
			return err
		}
	}
	return nil
}

// judgeSince judges the entries of logs on the edge from a commit to the tip, which is one step: of those that are frozen once they are merged or,
// if squash, of the others that moved or were rotated.
func judgeSince(ctx context.Context, r *run.Run, from string, changes []history.Change, squash bool) error {
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
				return makeOneCommit(from, path)
			}
			return putBackFrom(r, from, path)
		}
	}
	for _, path := range history.PathsOf(s.Changes, func(path string) bool {
		merged := r.Source.Policy.LogFor(path).FrozenMerged()
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

// putBackFrom is the remedy for a log that a branch changed although its target has it: a new commit is enough, since the branch is judged
// as one step.
func putBackFrom(r *run.Run, from, path string) string {
	commands := []string{remedy.RestoreFrom(path, history.Short(from))}
	if r.Source.IsFileEntry(path) {
		commands = []string{"git restore --source=" + history.Short(from) + " --staged --worktree -- " + wording.TopPath(path)}
	}
	if !history.Uncommitted(r.Scope.Tip.ID) {
		commands = append(commands, "git commit -m "+wording.ShellWord("Put back "+path)+" -- "+wording.TopPath(path))
	}
	return wording.Commands(commands...)
}

// makeOneCommit is the remedy for a log that a squash of the branch would change, although no commit does: another commit would be one that does.
func makeOneCommit(from, path string) string {
	base := history.Short(from)
	return fmt.Sprintf("a squash of the branch would do this: redo the commit that moved %s, so that one archive has all that %s has in it; or make one commit of the branch: %s", wording.Printable(path), base,
		wording.Commands("git reset --soft "+base, "small-hook restore"+remedy.InDirectory(path), "git commit -a -m "+wording.ShellWord("One commit, with "+path)))
}

// NameOf is what messages call a tip.
func NameOf(tip history.Tip) string {
	if history.Uncommitted(tip.ID) {
		return "this change"
	}
	return cmp.Or(tip.Name, history.Short(tip.ID))
}

// judgeUnlisted judges commits that land with a push although the receiving side had them on another branch, where they were drafts.
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
			edges[k] = slices.DeleteFunc(slices.Clone(edge), func(x history.Change) bool { return !r.Source.Policy.LogFor(x.Path).ByStep() })
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

// DraftEdit is a commit of a branch that edits or drops an entry of an earlier one: if it lands by itself, it is rejected.
type DraftEdit struct {
	rule.Place
	Path string
	// Dropped is true if the commit removes the file.
	Dropped bool
	// Object is what the commit makes of it.
	Object string
}

// noteDraft reports a commit of a change that edits or drops entries which only the branch has.
func noteDraft(ctx context.Context, r *run.Run, s *read.Step, path string) error {
	if r.Scope.Base.ID == "" || r.Scope.Update.New != "" || len(s.Parents) != 1 || r.Learned.Drafts[path] != nil {
		return nil
	}
	steps, err := r.Steps(ctx)
	if err != nil || steps == nil || steps.Landed(s.ID) {
		return err
	}
	c, _ := history.ChangeAt(s.Changes[0], path)
	if c.Old.Mode == "" {
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

// judgeDrafts judges the drafts of the logs in which nothing else was found.
func judgeDrafts(ctx context.Context, r *run.Run) error {
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
