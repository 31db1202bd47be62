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
	// bases are those of head and the remote's branch. What head has and since lacks is put upon onto.
	bases             []string
	head, onto, since string
	combine           *reconcile.Combiner
	scratch           *commandLine
	// there are own commits that the remote's branch has in another form.
	there map[string]bool
	// commits are those that were read, by id.
	commits map[string]commit
}

// step is one new commit: code is its tree without the files that git does not merge, and files are those.
type step struct {
	commit
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
		if own != nil {
			goal, err = b.rebase(ctx, own)
		}
		if own == nil || errors.Is(err, reconcile.ErrNeedsMerge) {
			goal, err = b.merge(ctx)
		}
		return err
	})
	return goal, err
}

// own lists the commits that are put on top, the oldest first; nil if that has to be a merge.
func (b *building) own(ctx context.Context) ([]string, error) {
	if b.opts.Merge {
		return nil, nil
	}
	out, err := b.git.run(ctx, "rev-list", "--topo-order", "--reverse", "--right-only", "--cherry-mark", b.since+"..."+b.head)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(out)
	b.there = map[string]bool{}
	for i, marked := range all {
		all[i] = marked[1:]
		b.there[all[i]] = marked[0] == '='
	}
	plain, err := b.count(ctx, "--no-merges", b.since+".."+b.head, "--not", "--remotes")
	if err != nil || plain != len(all) {
		return nil, err
	}
	return all, nil
}

// rebase puts commits on top.
func (b *building) rebase(ctx context.Context, own []string) (string, error) {
	if err := b.read(ctx, append(slices.Clone(own), b.onto)); err != nil {
		return "", err
	}
	first := b.commits[own[0]].parents
	if len(first) != 1 {
		return "", reconcile.ErrNeedsMerge
	}
	if err := b.read(ctx, first); err != nil {
		return "", err
	}
	for _, id := range own {
		b.there[id] = b.there[id] && !b.empty(b.commits[id])
	}
	before, err := b.combine.Files(ctx, first[0])
	if err != nil {
		return "", err
	}
	upon, err := b.combine.Files(ctx, b.onto)
	if err != nil {
		return "", err
	}
	versions, err := b.combine.Chain(ctx, first[0], before, own)
	if err != nil {
		return "", err
	}
	steps, notes, err := b.putOn(ctx, own, upon, append([]reconcile.Files{before}, versions...))
	if err != nil {
		return "", err
	}
	bare := []stripped{{id: first[0], files: before}}
	for i, id := range own {
		bare = append(bare, stripped{id: id, parents: []int{i}, files: versions[i], wanted: !b.there[id]})
	}
	codes, err := b.mergeCode(ctx, append(bare, stripped{id: b.onto, files: upon}), "cherry-pick", "--allow-empty", "--allow-empty-message", "--keep-redundant-commits")
	if err != nil {
		return "", err
	}
	if len(codes) != len(steps)+1 {
		return "", &failure.Error{Message: "git cherry-pick has not made the commits that it was to make"}
	}
	var kept []step
	was := upon
	for i, s := range steps {
		s.code = codes[i+1]
		empty := codes[i] == s.code && maps.Equal(was, s.files)
		if !empty || b.empty(s.commit) {
			kept = append(kept, s)
		}
		was = s.files
	}
	return b.make(ctx, kept, notes)
}

// empty reports whether a commit changes nothing.
func (b *building) empty(c commit) bool { return c.tree == b.commits[c.parents[0]].tree }

// putOn puts the files of workspaces of commits on top of others; versions are those of the first one's parent and of each.
func (b *building) putOn(ctx context.Context, own []string, upon reconcile.Files, versions []reconcile.Files) (steps []step, notes []string, err error) {
	parent := b.commits[own[0]].parents[0]
	for i, id := range own {
		theirs := reconcile.Side{
			Name: history.Short(id), ID: id, Files: versions[i+1], Picked: true,
			Bases: []reconcile.Side{{Name: "its parent", ID: parent, Files: versions[i]}},
		}
		if b.there[id] {
			parent = id
			continue
		}
		var said []string
		if upon, said, err = b.combine.Combine(ctx, reconcile.Side{Name: b.name(), ID: b.onto, Files: upon}, theirs); err != nil {
			return nil, nil, b.byHand(ctx, err, "rebase")
		}
		notes = append(notes, said...)
		steps = append(steps, step{commit: b.commits[id], files: upon})
		parent = id
	}
	return steps, notes, nil
}

// merge merges the remote's branch.
func (b *building) merge(ctx context.Context) (string, error) {
	ids := append(slices.Clone(b.bases), b.head, b.onto)
	if len(b.bases) > 1 { // then git merges these first
		out, err := b.git.run(ctx, append([]string{"merge-base", "--octopus"}, b.bases...)...)
		if err != nil {
			return "", err
		}
		ids = append([]string{out}, ids...)
	}
	if err := b.read(ctx, ids); err != nil {
		return "", err
	}
	var bare []stripped
	var sides []reconcile.Side
	for _, id := range ids {
		files, err := b.combine.Files(ctx, id)
		if err != nil {
			return "", err
		}
		bare = append(bare, stripped{id: id, files: files})
		sides = append(sides, reconcile.Side{Name: history.Short(id), ID: id, Files: files})
	}
	n := len(ids) - 2 // bases, and their own if there are several
	for i := 1; i < n; i++ {
		bare[i].parents = []int{0}
	}
	for i := max(n-len(b.bases), 0); i < n; i++ {
		bare[n].parents, bare[n+1].parents = append(bare[n].parents, i), append(bare[n+1].parents, i)
	}
	ours, theirs := sides[n], sides[n+1]
	ours.Name, theirs.Name, theirs.Bases = short(b.branch), b.name(), sides[n-len(b.bases):n]
	files, notes, err := b.combine.Combine(ctx, ours, theirs)
	if err != nil {
		return "", b.byHand(ctx, err, "merge")
	}
	bare[n], bare[n+1] = bare[n+1], bare[n] // the last one is checked out
	bare[n].wanted = true
	codes, err := b.mergeCode(ctx, bare, "merge", "-q", "--no-ff", "--no-edit", "--no-verify", "-m", "merge")
	if err != nil {
		return "", err
	}
	author, err := b.git.run(ctx, "var", "GIT_AUTHOR_IDENT")
	if err != nil {
		return "", err
	}
	made := commit{author: author, message: "Merge " + b.remote + "/" + short(b.target) + "\n"}
	return b.make(ctx, []step{{commit: made, parents: []string{b.head, b.onto}, code: codes[len(codes)-1], files: files}}, notes)
}

// byHand is the failure of what only a person can bring together, with git's own commands for it.
func (b *building) byHand(ctx context.Context, err error, command string, conflicts ...string) error {
	if errors.Is(err, reconcile.ErrNeedsMerge) || ctx.Err() != nil {
		return err
	}
	f := *failure.Of(err)
	dirty, asked := b.git.ask(ctx, "diff-index", "--quiet", "HEAD", "--")
	if asked != nil {
		return asked
	}
	f.Remedy = ""
	if dirty.status != 0 {
		f.Remedy = "`git commit -a -m 'Work in progress'`, then "
	}
	upstream := wording.ShellWord(b.remote + "/" + short(b.target))
	edit := "`small-hook reconcile`, then "
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
