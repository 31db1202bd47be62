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
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/rewrite"
	"github.com/small-gate/small-gate/internal/write/threeway"
)

// building builds the commits to push: those of builtUpTo..head are put on top of onto.
type building struct {
	*publishing
	combine *reconcile.Combiner
	// bases are the merge bases of head and the remote's branch. onto is the tip of that branch, or what an earlier sync built on top of it. head is
	// the branch's tip. The commits to rebase are builtUpTo..head: what
	// builtUpTo has, onto has too, as it is or as copies that an earlier sync made.
	bases                 []string
	head, onto, builtUpTo string
	// userObjects reads commits, and signs new ones as the user's git is configured. commits are those that it has read, by id.
	userObjects *rewrite.Objects
	commits     map[string]rewrite.Commit
	notes       []string
	// merged is true if the new tip is a merge. emptied is the number of own commits that are left out.
	merged  bool
	emptied int
}

// step is one commit to make.
type step struct {
	// source is the commit whose author, message and headers it gets.
	source rewrite.Commit
	// id is the id of the commit that it replaces; empty if it replaces none.
	id string
	// parents are its parents; empty if the step before is the only one.
	parents []string
	// files are the files that reconcile merges, and git does not. codeTree is the id of its tree without them.
	codeTree string
	files    reconcile.Files
}

// build builds the commits and returns the new tip. It rebases the branch's own commits. It merges instead if the caller asks for that, if one of them
// is published, tagged, a merge, a commit without a parent or one that cannot be signed again, or if their entries cannot be put after those of the remote's branch.
func (b *building) build(ctx context.Context) (goal string, err error) {
	own, err := b.listToRebase(ctx)
	if err != nil {
		return "", err
	}
	b.userObjects, b.commits = rewrite.New(b.git.Git), map[string]rewrite.Commit{}
	defer func() { err = errors.Join(err, b.git.explain(b.userObjects.End()), b.removeScratch()) }()
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

// listToRebase lists the commits to rebase, oldest first. It returns nil if they have to be merged.
func (b *building) listToRebase(ctx context.Context) ([]string, error) {
	if b.opts.Merge {
		return nil, nil
	}
	out, err := b.git.run(ctx, "rev-list", "--topo-order", "--reverse", b.builtUpTo+".."+b.head)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(out)
	plain, err := b.count(ctx, "--no-merges", b.builtUpTo+".."+b.head, "--not", "--remotes", "--tags")
	if err != nil || plain != len(all) {
		return nil, err
	}
	return all, nil
}

// rebase puts commits on top of onto. It leaves out those that become empty there; those that were empty before stay.
func (b *building) rebase(ctx context.Context, own []string) (string, error) {
	if err := b.readCommits(ctx, append(slices.Clone(own), b.onto)); err != nil {
		return "", err
	}
	parents := b.commits[own[0]].Parents
	unsignable := func(id string) bool { return !b.commits[id].Signable() }
	if len(parents) != 1 || b.sign && slices.ContainsFunc(own, unsignable) {
		return "", reconcile.ErrNeedsMerge
	}
	versions, ontoFiles, err := b.readVersions(ctx, parents[0], own)
	if err != nil {
		return "", err
	}
	var steps []step
	files, before := ontoFiles, parents[0]
	for i, id := range own {
		var notes []string
		files, notes, err = b.combine.Combine(ctx, reconcile.Side{Name: b.remoteName(), ID: b.onto, Files: files}, reconcile.Side{
			Name: history.Short(id), ID: id, Files: versions[i+1], Picked: true,
			Bases: []reconcile.Side{{Name: "its parent", ID: before, Files: versions[i]}},
		})
		if err != nil {
			return "", b.errByHand(ctx, err, "rebase")
		}
		b.notes, before = append(b.notes, notes...), id
		steps = append(steps, step{source: b.commits[id], id: id, files: files})
	}
	trees, err := b.mergeCode(ctx, parents[0], own, versions, ontoFiles, "rebase")
	if err != nil {
		return "", err
	}
	var kept []step
	files = ontoFiles
	for i, s := range steps {
		s.codeTree = trees[i+1]
		empty := trees[i] == s.codeTree && maps.Equal(files, s.files)
		if files = s.files; !empty || s.source.Tree == b.commits[s.source.Parents[0]].Tree {
			kept = append(kept, s)
		}
	}
	b.emptied = len(steps) - len(kept)
	return b.makeCommits(ctx, kept, ontoFiles)
}

// readVersions reads parent, some commits and onto, and lists the workspaces' files of each. versions are those of parent and of the commits, ontoFiles
// those of onto.
func (b *building) readVersions(ctx context.Context, parent string, commits []string) (versions []reconcile.Files, ontoFiles reconcile.Files, err error) {
	all := append(append([]string{parent}, commits...), b.onto)
	if err := b.readCommits(ctx, all); err != nil {
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

// merge builds the merge of the remote's branch. If there are several merge bases, the code is merged with the first one as its base.
func (b *building) merge(ctx context.Context) (string, error) {
	b.notes, b.merged, b.emptied = nil, true, 0
	versions, ontoFiles, err := b.readVersions(ctx, b.bases[0], []string{b.head})
	if err != nil {
		return "", err
	}
	theirs := reconcile.Side{Name: b.remoteName(), ID: b.onto, Files: ontoFiles}
	for _, id := range b.bases {
		files, err := b.combine.Files(ctx, id)
		if err != nil {
			return "", err
		}
		theirs.Bases = append(theirs.Bases, reconcile.Side{Name: "the merge base", ID: id, Files: files})
	}
	var files reconcile.Files
	if files, b.notes, err = b.combine.Combine(ctx, reconcile.Side{Name: short(b.branch), ID: b.head, Files: versions[1]}, theirs); err != nil {
		return "", b.errByHand(ctx, err, "merge")
	}
	trees, err := b.mergeCode(ctx, b.bases[0], []string{b.head}, versions, ontoFiles, "merge")
	if err != nil {
		return "", err
	}
	author, err := b.git.run(ctx, "var", "GIT_AUTHOR_IDENT")
	if err != nil {
		return "", err
	}
	made := rewrite.Commit{Author: author, Message: "Merge " + b.remote + "/" + short(b.target) + "\n"}
	return b.makeCommits(ctx, []step{{source: made, parents: []string{b.head, b.onto}, codeTree: trees[1], files: files}}, ontoFiles)
}

// readCommits adds commits to b.commits.
func (b *building) readCommits(ctx context.Context, ids []string) (err error) {
	for _, id := range ids {
		if b.commits[id], err = b.userObjects.Commit(ctx, id); err != nil {
			return b.git.explain(err)
		}
	}
	return nil
}

// withObjects runs the function do with a writer of objects, whose git runs in the scratch work tree with scratchOptions.
func (b *building) withObjects(do func(*rewrite.Objects) error) error {
	objects := rewrite.New(b.scratchGit().Git)
	return b.git.explain(cmp.Or(do(objects), objects.End()))
}

// makeCommits makes a commit for each step on top of onto, and returns the last one. An entry that names a replaced commit then names the new one.
func (b *building) makeCommits(ctx context.Context, steps []step, ontoFiles reconcile.Files) (last string, err error) {
	committer, err := b.git.run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	last, b.newIDs = b.onto, map[string]string{}
	stored := map[string]bool{}
	err = b.withObjects(func(objects *rewrite.Objects) error {
		for _, s := range steps {
			files, notes, err := b.combine.ReplaceCommitIDs(ctx, s.files, ontoFiles, b.newIDs)
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
			c := s.source
			c.Tree, c.Parents, c.Committer = s.codeTree, s.parents, committer
			if c.Parents == nil {
				c.Parents = []string{last}
			}
			if last, err = objects.Make(ctx, c, slices.Collect(maps.Values(files))); err == nil && b.sign {
				if err = objects.End(); err == nil {
					last, err = b.userObjects.Sign(ctx, last)
				}
			}
			if err != nil {
				return err
			}
			if s.id != "" {
				b.newIDs[s.id] = last
			}
		}
		return nil
	})
	return last, err
}

// errByHand returns the failure where git and reconcile cannot bring both sides together by themselves. Its remedy has git's own commands for the same
// work.
func (b *building) errByHand(ctx context.Context, err error, command string, conflicts ...string) error {
	if errors.Is(err, reconcile.ErrNeedsMerge) || ctx.Err() != nil {
		return err
	}
	upstream := wording.ShellWord(b.remote + "/" + short(b.target))
	if errors.Is(err, combine.ErrUndo) { // a side has broken a log; the own commits have been judged, so it is the remote's
		f := *failure.Of(err)
		f.Remedy = "fix the log on that branch first, as `small-hook audit " + upstream + "` says; then " + b.git.again
		return &f
	}
	dirty, askErr := b.git.runYesNo(ctx, "diff-index", "--quiet", "HEAD", "--")
	if askErr != nil {
		return askErr
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
		f.Remedy = "a person has to edit the plan on the way: "
	}
	if dirty.Status != 0 {
		f.Remedy += "`git commit -a -m 'Work in progress'`, then "
	}
	if byHand := b.combine.ByHand(conflicts); len(byHand) > 0 {
		edit = "edit the files in conflict so that both sides' work is in them, then " + addCommand(byHand) + ", then " + edit
	}
	if command == "rebase" {
		f.Remedy += "`git rebase " + upstream + "`; at each stop " + edit + "`git -c core.editor=true rebase --continue`; then " + b.git.again
	} else {
		f.Remedy += "`git merge --no-edit " + upstream + "`; " + edit + wording.Commands(wording.FinishMerge) + ", then " + b.git.again
	}
	return &f
}
