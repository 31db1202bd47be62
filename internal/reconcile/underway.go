package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wording"
)

// Repository is the part of repository.Repository that is needed here.
type Repository interface {
	history.History
	Where() githistory.Place
	Resolve(ctx context.Context, name string) (string, error)
	Tips(ctx context.Context, prefixes ...string) ([]string, error)
	Head(ctx context.Context) (string, error)
	CurrentBranch(ctx context.Context) (string, error)
}

// side is a commit whose logs are combined.
type side struct {
	name, id string
	// parts are the commits from which it and ours parted.
	parts []string
	// picked is true if only what the commit itself adds is wanted.
	picked bool
}

// operation is what git has not finished.
type operation struct {
	// word names it; empty if nothing is under way and the other side was named.
	word string
	// finish is what to type afterwards, and skip the same where nothing is left to commit.
	finish, skip string
	ours         side
	theirs       []side
}

// The operations, in git's words.
const (
	opMerge  = "merge"
	opRebase = "rebase"
	opPick   = "cherry-pick"
	opSquash = "squash merge"
	opApply  = "conflict"
)

// sides are all sides, ours first.
func (o *operation) sides() []side { return append([]side{o.ours}, o.theirs...) }

// versions adds to a log's case what each side has of it, and what the commits have from which the others parted.
func (o *operation) versions(c *splice.Case, read func(side) (splice.Version, error)) (err error) {
	if c.Ours, err = read(o.ours); err != nil {
		return err
	}
	for _, t := range o.theirs {
		v, err := read(t)
		if err != nil {
			return err
		}
		for _, id := range t.parts {
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
	return o.word == opRebase || o.word == opPick || o.word == opSquash
}

// undo is the command that undoes the operation.
func (o *operation) undo() string {
	switch {
	case o.word == opApply && o.finish != "":
		return "git am --abort"
	case o.word == opSquash || o.word == opApply:
		return "git reset --merge"
	}
	return "git " + o.word + " --abort"
}

// undone adds to the failure of an unsound side how to undo what is under way, which cannot go on before.
func (o *operation) undone(err error) error {
	if o.word == "" || !errors.Is(err, splice.ErrUnsound) {
		return err
	}
	f := *failure.Of(err)
	f.Remedy = "undo it: `" + o.undo() + "`; " + f.Remedy
	return &f
}

// underWay finds the sides of the merge, rebase, cherry-pick or squash that git has not finished; there are none if there is no such
// thing. The stages of a conflict in the index do not matter.
func underWay(ctx context.Context, repo Repository, git *workTree) (*operation, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, &failure.Error{Message: "this branch has no commit yet, so there is nothing to reconcile"}
	}
	op := &operation{ours: side{id: head}}
	for _, look := range []func(context.Context, Repository, *workTree) error{op.merging, op.applying, op.squashing} {
		if err := look(ctx, repo, git); err != nil {
			return nil, err
		}
		if op.word != "" {
			break
		}
	}
	return op, nil
}

// named takes the side that the caller names; one that is already under way keeps its operation.
func (o *operation) named(ctx context.Context, repo Repository, name string) error {
	id, err := repo.Resolve(ctx, name)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(o.theirs, func(s side) bool { return s.id == id })
	switch {
	case o.word == "" || o.word == opSquash && !known:
		o.theirs = []side{{name: name, id: id}}
		o.finish = "git commit -m " + wording.ShellWord("Keep the log of "+name)
	case !known:
		return &failure.Error{
			Message: fmt.Sprintf("a %s is under way, and %s is not part of it", o.word, name),
			Remedy:  "type `small-hook reconcile` without a name, or end the " + o.word + " first (`git status` says how)",
		}
	}
	return nil
}

// merging looks for a merge: each line of MERGE_HEAD is a side.
func (o *operation) merging(ctx context.Context, repo Repository, _ *workTree) error {
	heads, err := githistory.MergeHeads(ctx, repo)
	if err != nil || len(heads) == 0 {
		return err
	}
	u, err := UnderWay(repo.Where().GitDir)
	if err != nil {
		return err
	}
	o.word, o.finish = opMerge, u.Finish
	for _, id := range heads {
		o.theirs = append(o.theirs, side{id: id})
	}
	return nil
}

// applying looks for a rebase, cherry-pick or revert that stopped: a pseudo ref names the commit that is applied to HEAD.
func (o *operation) applying(ctx context.Context, repo Repository, git *workTree) error {
	u, err := UnderWay(repo.Where().GitDir)
	if err != nil || u.Finish == "" {
		return err
	}
	if u.Command == opRevert {
		return reverting(ctx, repo)
	}
	// In a rebase that stopped for something else, somebody may have picked a commit.
	for _, ref := range map[string][]string{opRebase: {"REBASE_HEAD", "CHERRY_PICK_HEAD"}, opPick: {"CHERRY_PICK_HEAD"}}[u.Command] {
		there, err := exists(filepath.Join(repo.Where().GitDir, ref))
		if err != nil {
			return err
		}
		if there {
			o.finish, o.skip = u.Finish, u.Skip
			return o.apply(ctx, repo, git, ref, u.Command)
		}
	}
	return nil
}

// apply takes a commit that git applies as a side.
func (o *operation) apply(ctx context.Context, repo Repository, git *workTree, name, word string) error {
	id, err := repo.Resolve(ctx, name)
	if err != nil {
		return err
	}
	parents, err := git.parents(ctx, id)
	if err != nil {
		return err
	}
	o.word = word
	o.theirs = []side{{id: id, parts: parents, picked: true}}
	if len(parents) > 1 {
		return o.needsMerge(ctx, repo, git, fmt.Sprintf("the %s is about to apply %s, which is a merge: it is unclear which side's entries it brings", word, history.Short(id)))
	}
	return nil
}

// reverting is the failure in a revert: it takes code back, and the log keeps what was recorded.
func reverting(ctx context.Context, repo Repository) error {
	files, err := repo.List(ctx, history.Index, history.Workspaces())
	if err != nil {
		return err
	}
	var paths []string
	for _, f := range files {
		if dir, _, ok := small.SplitPath(f.Path); ok {
			paths = append(paths, small.InDir(dir, ""))
		}
	}
	slices.Sort(paths)
	return &failure.Error{
		Message: "a revert is under way: it reverts code, but the log keeps what was recorded",
		Remedy: "keep the workspace: `git restore --source=HEAD --staged --worktree -- " + words(slices.Compact(paths)) + "`; then `git -c core.editor=true revert --continue`; " +
			"then append an entry that says what was reverted",
	}
}

// words are paths from the root as words of a shell.
func words(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, wording.TopPath(p))
	}
	return strings.Join(out, " ")
}

// squashing looks for a git merge --squash. SQUASH_MSG lists the commits that it squashed, and the tips among them are the sides.
func (o *operation) squashing(ctx context.Context, repo Repository, git *workTree) error {
	data, err := os.ReadFile(filepath.Join(repo.Where().GitDir, "SQUASH_MSG"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &failure.Error{Message: "cannot read what was squashed: " + err.Error(), Err: err}
	}
	squashed := regexp.MustCompile(`^commit ([0-9a-f]{40}|[0-9a-f]{64})\b`)
	var listed []string
	inside := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		// Commit messages are indented there, so this is git's own line.
		if m := squashed.FindStringSubmatch(line); m != nil {
			listed = append(listed, m[1])
		}
	}
	for _, id := range listed {
		parents, err := git.parents(ctx, id)
		if err != nil {
			return err
		}
		for _, p := range parents {
			inside[p] = true
		}
	}
	for _, id := range listed {
		if !inside[id] {
			o.word, o.finish, o.skip = opSquash, "git commit --no-edit", "git reset --merge"
			o.theirs = append(o.theirs, side{id: id})
		}
	}
	return nil
}

// name gives the sides the names of branches, and finds the commits from which they parted.
func (o *operation) name(ctx context.Context, repo Repository, git *workTree) error {
	branch, err := repo.CurrentBranch(ctx)
	if err != nil {
		return err
	}
	o.ours.name = cmp.Or(strings.TrimPrefix(branch, "refs/heads/"), "HEAD")
	for i := range o.theirs {
		t := &o.theirs[i]
		if t.name == "" {
			if t.name, err = git.nameOf(ctx, t.id); err != nil {
				return err
			}
		}
		t.name = cmp.Or(t.name, history.Short(t.id))
		if t.picked {
			continue
		}
		if t.parts, err = repo.MergeBases(ctx, o.ours.id, t.id); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	}
	return false, &failure.Error{Message: "cannot look for " + path + ": " + err.Error(), Err: err}
}
