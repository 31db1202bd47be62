package publish

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/reconcile"
	"github.com/small-gate/small-gate/internal/wording"
)

// building makes the commits that are to be pushed.
type building struct {
	*publishing
	combine *reconcile.Combiner
	// bases are those of head and the remote's branch. What head has and since lacks is put upon onto.
	bases             []string
	head, onto, since string
	// commits are those that were read, by id.
	commits map[string]commit
	notes   []string
}

// step is one new commit: code is its tree without the files that git does not merge, and files are those.
type step struct {
	commit
	// parents are its own; none for the step before.
	parents []string
	code    string
	files   reconcile.Files
}

// build returns the new tip: the own commits on top, or a merge where they are published or merges themselves, or have no common order
// with what is there.
func (b *building) build(ctx context.Context) (goal string, err error) {
	own, err := b.own(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.removeScratch()) }()
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

// own lists the commits that are put on top, the oldest first; nil if that has to be a merge.
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

// rebase puts commits on top. What is empty then is left out.
func (b *building) rebase(ctx context.Context, own []string) (string, error) {
	if err := b.read(ctx, append(slices.Clone(own), b.onto)); err != nil {
		return "", err
	}
	parents := b.commits[own[0]].parents
	if len(parents) != 1 {
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
		steps = append(steps, step{commit: b.commits[id], files: files})
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
		if files = s.files; !empty || s.tree == b.commits[s.commit.parents[0]].tree {
			kept = append(kept, s)
		}
	}
	return b.make(ctx, kept)
}

// versions lists the files of workspaces of a commit and of those upon it, and of what they are put upon. It reads the commits, too.
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

// merge merges the remote's branch. Of several merge bases git gets one for the code.
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
	made := commit{author: author, message: "Merge " + b.remote + "/" + short(b.target) + "\n"}
	return b.make(ctx, []step{{commit: made, parents: []string{b.head, b.onto}, code: codes[1], files: files}})
}

// byHand is the failure of what only a person can bring together, with git's own commands for it.
func (b *building) byHand(ctx context.Context, err error, command string, conflicts ...string) error {
	if errors.Is(err, reconcile.ErrNeedsMerge) || ctx.Err() != nil {
		return err
	}
	dirty, asked := b.git.ask(ctx, "diff-index", "--quiet", "HEAD", "--")
	if asked != nil {
		return asked
	}
	f := *failure.Of(err)
	edit := "`small-hook reconcile`, then "
	if strings.HasPrefix(f.Remedy, "`small-hook reconcile --") { // with a choice that somebody has to make
		edit = f.Remedy + "; then "
	}
	f.Remedy = ""
	if dirty.Status != 0 {
		f.Remedy = "`git commit -a -m 'Work in progress'`, then "
	}
	upstream := wording.ShellWord(b.remote + "/" + short(b.target))
	if len(conflicts) > 0 {
		edit = "edit it so that both sides' work is in it, then " + add(conflicts) + ", then " + edit
	}
	if command == "rebase" {
		f.Remedy += "`git rebase " + upstream + "`; at each stop " + edit + "`git -c core.editor=true rebase --continue`; then `small-hook sync`"
	} else {
		f.Remedy += "`git merge --no-edit " + upstream + "`; " + edit + "`git commit --no-edit`, then `small-hook sync`"
	}
	return &f
}
