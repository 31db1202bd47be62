package publish

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/rewrite"
	"github.com/small-gate/small-gate/internal/write/threeway"
)

// building makes the commits that are to be pushed.
type building struct {
	*publishing
	combine *reconcile.Combiner
	// bases are the merge bases of head and the remote's branch. The commits that head has and since lacks are put on top of onto.
	bases             []string
	head, onto, since string
	// originals reads commits; commits are those that were read, by id.
	originals *rewrite.Objects
	commits   map[string]rewrite.Commit
	notes     []string
}

// step is one new commit, with author and message of another. files are the workspaces' files, which git does not merge; code is its tree without them.
type step struct {
	like rewrite.Commit
	// id is that of the commit that it rewrites; empty for a new one.
	id string
	// parents are the new commit's; empty if it goes on top of the step before.
	parents []string
	code    string
	files   reconcile.Files
}

// build returns the new tip. It rebases the own commits. It merges instead if one of them is published or a merge itself, or if entries
// cannot be put after the others'.
func (b *building) build(ctx context.Context) (goal string, err error) {
	own, err := b.own(ctx)
	if err != nil {
		return "", err
	}
	b.originals, b.commits = rewrite.New(b.git.Git), map[string]rewrite.Commit{}
	defer func() { err = errors.Join(err, b.git.failure(b.originals.End()), b.removeScratch()) }()
	err = b.opts.Combining(ctx, b.onto, b.head, func(c *reconcile.Combiner) error {
		b.combine = c
		err := reconcile.ErrNeedsMerge
		if own != nil {
			goal, err = b.rebase(ctx, own)
		}
		if errors.Is(err, reconcile.ErrNeedsMerge) {
			goal, err = b.merge(ctx)
		}
		return err
	})
	if err == nil {
		for _, note := range b.notes {
			b.say("%s", note)
		}
	}
	return goal, err
}

// own lists the commits to rebase, oldest first; nil if a merge is needed.
func (b *building) own(ctx context.Context) ([]string, error) {
	if b.opts.Merge {
		return nil, nil
	}
	out, err := b.git.run(ctx, "rev-list", "--topo-order", "--reverse", b.since+".."+b.head)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(out)
	plain, err := b.count(ctx, "--no-merges", b.since+".."+b.head, "--not", "--remotes")
	if err != nil || plain != len(all) {
		return nil, err
	}
	return all, nil
}

// rebase puts commits on top of onto. A commit that becomes empty is left out.
func (b *building) rebase(ctx context.Context, own []string) (string, error) {
	if err := b.read(ctx, append(slices.Clone(own), b.onto)); err != nil {
		return "", err
	}
	parents := b.commits[own[0]].Parents
	unsignable := func(id string) bool { return !b.commits[id].Signable() }
	if len(parents) != 1 || b.sign && slices.ContainsFunc(own, unsignable) {
		return "", reconcile.ErrNeedsMerge
	}
	versions, upon, err := b.versions(ctx, parents[0], own)
	if err != nil {
		return "", err
	}
	var steps []step
	files, before := upon, parents[0]
	for i, id := range own {
		var notes []string
		files, notes, err = b.combine.Combine(ctx, reconcile.Side{Name: b.name(), ID: b.onto, Files: files}, reconcile.Side{
			Name: history.Short(id), ID: id, Files: versions[i+1], Picked: true,
			Bases: []reconcile.Side{{Name: "its parent", ID: before, Files: versions[i]}},
		})
		if err != nil {
			return "", b.byHand(ctx, err, "rebase")
		}
		b.notes, before = append(b.notes, notes...), id
		steps = append(steps, step{like: b.commits[id], id: id, files: files})
	}
	codes, err := b.mergeCode(ctx, parents[0], own, versions, upon, "rebase")
	if err != nil {
		return "", err
	}
	var kept []step
	files = upon
	for i, s := range steps {
		s.code = codes[i+1]
		empty := codes[i] == s.code && maps.Equal(files, s.files)
		if files = s.files; !empty || s.like.Tree == b.commits[s.like.Parents[0]].Tree {
			kept = append(kept, s)
		}
	}
	return b.make(ctx, kept, upon)
}

// versions lists the workspaces' files of parent and of each commit; upon are those of onto. It reads the commits, too.
func (b *building) versions(ctx context.Context, parent string, commits []string) (versions []reconcile.Files, upon reconcile.Files, err error) {
	all := append(append([]string{parent}, commits...), b.onto)
	if err := b.read(ctx, all); err != nil {
		return nil, nil, err
	}
	for _, id := range all {
		files, err := b.combine.Files(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		versions = append(versions, files)
	}
	return versions[:len(all)-1], versions[len(all)-1], nil
}

// merge merges the remote's branch. If there are several merge bases, git merges the code with the first one.
func (b *building) merge(ctx context.Context) (string, error) {
	b.notes = nil
	versions, upon, err := b.versions(ctx, b.bases[0], []string{b.head})
	if err != nil {
		return "", err
	}
	theirs := reconcile.Side{Name: b.name(), ID: b.onto, Files: upon}
	for _, id := range b.bases {
		files, err := b.combine.Files(ctx, id)
		if err != nil {
			return "", err
		}
		theirs.Bases = append(theirs.Bases, reconcile.Side{Name: "the merge base", ID: id, Files: files})
	}
	var files reconcile.Files
	if files, b.notes, err = b.combine.Combine(ctx, reconcile.Side{Name: short(b.branch), ID: b.head, Files: versions[1]}, theirs); err != nil {
		return "", b.byHand(ctx, err, "merge")
	}
	codes, err := b.mergeCode(ctx, b.bases[0], []string{b.head}, versions, upon, "merge")
	if err != nil {
		return "", err
	}
	author, err := b.git.run(ctx, "var", "GIT_AUTHOR_IDENT")
	if err != nil {
		return "", err
	}
	made := rewrite.Commit{Author: author, Message: "Merge " + b.remote + "/" + short(b.target) + "\n"}
	return b.make(ctx, []step{{like: made, parents: []string{b.head, b.onto}, code: codes[1], files: files}}, upon)
}

// read reads commits into b.commits.
func (b *building) read(ctx context.Context, ids []string) (err error) {
	for _, id := range ids {
		if b.commits[id], err = b.originals.Commit(ctx, id); err != nil {
			return b.git.failure(err)
		}
	}
	return nil
}

// making has one git make objects in the scratch work tree.
func (b *building) making(do func(*rewrite.Objects) error) error {
	objects := rewrite.New(b.scratch().Git)
	return b.git.failure(cmp.Or(do(objects), objects.End()))
}

// make makes new commits on top of onto, and returns the last one. An entry that names one that it replaces names the new one.
func (b *building) make(ctx context.Context, steps []step, upon reconcile.Files) (last string, err error) {
	committer, err := b.git.run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	last, b.renamed = b.onto, map[string]string{}
	stored := map[string]bool{}
	err = b.making(func(objects *rewrite.Objects) error {
		for _, s := range steps {
			files, notes, err := b.combine.Rename(ctx, s.files, upon, b.renamed)
			for _, note := range notes {
				if !slices.Contains(b.notes, note) { // later commits have the entry too
					b.notes = append(b.notes, note)
				}
			}
			for _, f := range files {
				if data, made := b.combine.Content(f); made && !stored[f.Object] && err == nil {
					_, err = objects.Store(ctx, data)
					stored[f.Object] = true
				}
			}
			if err != nil {
				return err
			}
			c := s.like
			c.Tree, c.Parents, c.Committer = s.code, s.parents, committer
			if c.Parents == nil {
				c.Parents = []string{last}
			}
			if last, err = objects.Make(ctx, c, slices.Collect(maps.Values(files))); err == nil && b.sign {
				if err = objects.End(); err == nil {
					last, err = b.originals.Sign(ctx, last)
				}
			}
			if err != nil {
				return err
			}
			if s.id != "" {
				b.renamed[s.id] = last
			}
		}
		return nil
	})
	return last, err
}

// byHand is the failure where only a person can bring both sides together. Its remedy names git's own commands for that.
func (b *building) byHand(ctx context.Context, err error, command string, conflicts ...string) error {
	if errors.Is(err, reconcile.ErrNeedsMerge) || ctx.Err() != nil {
		return err
	}
	dirty, asked := b.git.runYesNo(ctx, "diff-index", "--quiet", "HEAD", "--")
	if asked != nil {
		return asked
	}
	f := *failure.Of(err)
	edit := "`small-hook reconcile`, then "
	if strings.HasPrefix(f.Remedy, "`small-hook reconcile --") { // somebody has to make a choice
		edit = f.Remedy + "; then "
	}
	byPerson := errors.Is(err, threeway.ErrByPerson)
	if byPerson {
		edit = f.Remedy + "; then "
	}
	f.Remedy = ""
	if byPerson {
		f.Remedy = "only a person can finish what this begins: "
	}
	if dirty.Status != 0 {
		f.Remedy += "`git commit -a -m 'Work in progress'`, then "
	}
	upstream := wording.ShellWord(b.remote + "/" + short(b.target))
	if len(conflicts) > 0 {
		edit = "edit it so that both sides' work is in it, then " + add(conflicts) + ", then " + edit
	}
	if command == "rebase" {
		f.Remedy += "`git rebase " + upstream + "`; at each stop " + edit + "`git -c core.editor=true rebase --continue`; then `small-hook sync`"
	} else {
		f.Remedy += "`git merge --no-edit " + upstream + "`; " + edit + wording.Commands(wording.FinishMerge) + ", then `small-hook sync`"
	}
	return &f
}
