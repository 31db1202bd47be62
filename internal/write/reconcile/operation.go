package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Repository is the part of repository.Repository used here.
type Repository interface {
	history.History
	githistory.Refs
	Resolve(ctx context.Context, name string) (string, error)
	Tips(ctx context.Context, prefixes ...string) ([]string, error)
}

// side is one of the versions that are merged: a commit; in a conflict that no commit explains, a stage of the index; or a Side of a Combiner.
type side struct {
	name, id string
	// bases are the ids of the side's merge bases with ours or, if the side is a commit being applied, of its parents.
	bases []string
	// picked is true if only the side's changes since its base are taken, as in a rebase.
	picked bool
}

// operation is an operation that git has not finished, or a merge of our logs with those of a side that the user names.
type operation struct {
	// kind is its git command, opSquash or opConflict; empty if nothing is under way.
	kind string
	// finish is the command to type after reconciling, skip the command to type if nothing is left to commit. An empty skip means finish.
	finish, skip string
	ours         side
	theirs       []side
}

// Kinds of operations that are not git commands.
const (
	opSquash = "squash merge"
	// opConflict is a conflict that no commit explains: see findSidesInConflict.
	opConflict = "conflict"
)

// sides returns all sides, ours first.
func (o *operation) sides() []side { return append([]side{o.ours}, o.theirs...) }

// addVersions adds the versions of all sides and merge bases to a log's case.
func (o *operation) addVersions(c *combine.Case, read func(side) (combine.Version, error)) (err error) {
	if c.Ours, err = read(o.ours); err != nil {
		return err
	}
	for _, t := range o.theirs {
		v, err := read(t)
		if err != nil {
			return err
		}
		for _, id := range t.bases {
			base, err := read(side{name: "the merge base", id: id})
			if err != nil {
				return err
			}
			v.Bases = append(v.Bases, base)
		}
		c.Theirs = append(c.Theirs, v)
	}
	return nil
}

// oneParent reports whether the operation ends in a commit with one parent.
func (o *operation) oneParent() bool {
	return o.kind == state.Rebase || o.kind == state.Pick || o.kind == opSquash
}

func (o *operation) undoCommand() string {
	switch {
	case o.kind == opConflict && o.finish != "":
		return state.UndoCommand(state.Apply)
	case o.kind == opSquash || o.kind == opConflict:
		return state.UndoCommand("")
	}
	return state.UndoCommand(o.kind)
}

// withUndo adds the command that undoes the operation to the remedy of err, if err says that this must be done first. Without an operation, it adds
// the merge that a remedy needs which ends in reconcile: only a merge can take an edited log.
func (o *operation) withUndo(err error) error {
	if err == nil {
		return nil
	}
	f := *failure.Of(err)
	switch {
	case o.kind != "" && errors.Is(err, combine.ErrUndo):
		f.Remedy = "undo it: `" + o.undoCommand() + "`; " + f.Remedy
	case o.kind == "" && strings.HasSuffix(f.Remedy, "`small-hook reconcile`"):
		f.Remedy = "`git merge --no-commit --no-ff " + wording.ShellWord(o.theirs[0].name) + "`; " + f.Remedy + ", " + wording.Commands(wording.FinishMerge)
	default:
		return err
	}
	return &f
}

// findOperation finds the merge, rebase, cherry-pick, revert or squash that git has not finished, and its sides. It does not look at the index.
func findOperation(ctx context.Context, repo Repository, git *workgit.Tree) (*operation, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, &failure.Error{Message: "this branch has no commit yet, so there is nothing to reconcile"}
	}
	op := &operation{ours: side{id: head}}
	for _, find := range []func(context.Context, Repository, *workgit.Tree) error{op.findMerge, op.findApplied, op.findSquash} {
		if err := find(ctx, repo, git); err != nil {
			return nil, err
		}
		if op.kind != "" {
			break
		}
	}
	return op, nil
}

// useNamedSide makes the commit that the user names the other side. If an operation is under way, the commit must be one of its sides, and all
// its sides stay; but the sides of a squash of other commits are replaced.
func (o *operation) useNamedSide(ctx context.Context, repo Repository, name string) error {
	id, err := repo.Resolve(ctx, name)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(o.theirs, func(s side) bool { return s.id == id })
	switch {
	case o.kind == "" || o.kind == opSquash && !known:
		o.theirs = []side{{name: name, id: id}}
		o.finish = "git commit -m " + wording.ShellWord("Keep the log of "+name)
	case !known:
		return &failure.Error{
			Message: fmt.Sprintf("a %s is under way, and %s is not part of it", o.kind, name),
			Remedy:  "type `small-hook reconcile` without a name, or end the " + o.kind + " first (`git status` says how)",
		}
	}
	return nil
}

// findMerge finds the sides of an unfinished merge in MERGE_HEAD.
func (o *operation) findMerge(ctx context.Context, repo Repository, _ *workgit.Tree) error {
	heads, err := workgit.MergeHeads(ctx, repo)
	if err != nil || len(heads) == 0 {
		return err
	}
	u, err := state.Read(repo.Where().GitDir)
	if err != nil {
		return err
	}
	o.kind, o.finish = state.Merge, u.Finish
	for _, id := range heads {
		o.theirs = append(o.theirs, side{id: id})
	}
	return nil
}

// findApplied finds a stopped rebase, cherry-pick or revert. A pseudo ref names the commit being applied to HEAD. A revert gets no other side.
func (o *operation) findApplied(ctx context.Context, repo Repository, git *workgit.Tree) error {
	u, err := state.Read(repo.Where().GitDir)
	if err != nil || u.Finish == "" {
		return err
	}
	if u.Command == state.Revert {
		o.kind, o.finish, o.skip = u.Command, u.Finish, u.Skip
		return nil
	}
	// If a rebase stopped without applying a commit, somebody may have picked one.
	for _, ref := range map[string][]string{state.Rebase: {"REBASE_HEAD", "CHERRY_PICK_HEAD"}, state.Pick: {"CHERRY_PICK_HEAD"}}[u.Command] {
		there, err := state.Exists(filepath.Join(repo.Where().GitDir, ref))
		if err != nil {
			return err
		}
		if there {
			o.finish, o.skip = u.Finish, u.Skip
			return o.useAppliedCommit(ctx, repo, git, ref, u.Command)
		}
	}
	return nil
}

// useAppliedCommit makes the commit that git is applying the other side. A commit with several parents cannot be applied.
func (o *operation) useAppliedCommit(ctx context.Context, repo Repository, git *workgit.Tree, name, kind string) error {
	id, err := repo.Resolve(ctx, name)
	if err != nil {
		return err
	}
	parents, err := git.Parents(ctx, id)
	if err != nil {
		return err
	}
	o.kind = kind
	o.theirs = []side{{id: id, bases: parents, picked: true}}
	if len(parents) > 1 {
		return o.needsMerge(ctx, repo, git, fmt.Sprintf("the %s is about to apply %s, which is a merge: it is unclear which side's entries it brings", kind, history.Short(id)))
	}
	return nil
}

// findSquash finds an uncommitted git merge --squash. Its sides are the squashed commits that are not a parent of another one.
func (o *operation) findSquash(ctx context.Context, repo Repository, git *workgit.Tree) error {
	squashed, err := state.Squashed(repo.Where().GitDir)
	if err != nil {
		return err
	}
	isParent := map[string]bool{}
	for _, id := range squashed {
		parents, err := git.Parents(ctx, id)
		if err != nil {
			return err
		}
		for _, p := range parents {
			isParent[p] = true
		}
	}
	for _, id := range squashed {
		if !isParent[id] {
			o.kind, o.finish, o.skip = opSquash, wording.FinishMerge, state.UndoCommand("")
			o.theirs = append(o.theirs, side{id: id})
		}
	}
	return nil
}

// findNamesAndBases names the sides after branches, and finds their merge bases with ours.
func (o *operation) findNamesAndBases(ctx context.Context, repo Repository, git *workgit.Tree) error {
	branch, err := repo.CurrentBranch(ctx)
	if err != nil {
		return err
	}
	o.ours.name = cmp.Or(strings.TrimPrefix(branch, "refs/heads/"), "HEAD")
	for i := range o.theirs {
		t := &o.theirs[i]
		if t.name == "" {
			if t.name, err = git.NameOf(ctx, t.id); err != nil {
				return err
			}
		}
		t.name = cmp.Or(t.name, history.Short(t.id))
		if t.picked {
			continue
		}
		if t.bases, err = repo.MergeBases(ctx, o.ours.id, t.id); err != nil {
			return err
		}
	}
	return nil
}

// CombineCommitted combines HEAD's version of a log with those of the commits being merged. It returns c with these versions, and the text,
// which is nil if no version has the log. Without a merge, the text is HEAD's.
func CombineCommitted(ctx context.Context, repo Repository, git *workgit.Tree, c combine.Case) (combine.Case, []byte, error) {
	op := &operation{}
	var err error
	if op.ours.id, err = repo.Head(ctx); err != nil || op.ours.id == "" {
		return c, nil, err
	}
	if err = op.findMerge(ctx, repo, git); err == nil {
		err = op.findNamesAndBases(ctx, repo, git)
	}
	if err == nil {
		err = op.addVersions(&c, func(s side) (combine.Version, error) {
			data, _, err := githistory.ReadFile(ctx, repo, s.id, c.Path, c.Limits.FileSize())
			return combine.Version{Name: s.name, ID: s.id, Data: data}, err
		})
	}
	if err != nil || len(c.Theirs) == 0 {
		return c, c.Ours.Data, err
	}
	resolved, err := c.Resolve()
	if err != nil {
		return c, nil, op.withUndo(err)
	}
	return c, resolved.Text, nil
}

// CanFindSides reports whether the sides of a file's conflict can be found: an operation is under way, or git remembers the conflict's stages.
func CanFindSides(ctx context.Context, repo Repository, git *workgit.Tree, path string) (bool, error) {
	op, err := findOperation(ctx, repo, git)
	if err != nil || op.kind != "" {
		return true, err
	}
	stages, err := git.Remembered(ctx, path)
	return len(stages) > 0, err
}
