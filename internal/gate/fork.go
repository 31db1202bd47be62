package gate

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// WorkspaceFork is one workspace on two branches, seen from where they parted:
// the target that is to be merged into, and the head that is to be merged.
type WorkspaceFork struct {
	Place
	dir string
	// bases are the best common ancestors; after criss-cross merges there are
	// several, and only what differs from each of them was changed on a side.
	bases        []*Workspace
	target, head *Workspace
	// targetOnly and headOnly are the entries that a side recorded since, and
	// that the other lacks.
	targetOnly, headOnly []small.Entry
	targetName, headName string
	// predicts says that the two are about to be merged.
	predicts bool
}

// bothChanged reports whether a text was changed on both sides, to different
// ends. of reads it from a workspace; without it there is nothing to compare.
func (v *WorkspaceFork) bothChanged(of func(*Workspace) (string, bool)) bool {
	target, okTarget := of(v.target)
	head, okHead := of(v.head)
	if !okTarget || !okHead || target == head {
		return false
	}
	return !slices.ContainsFunc(v.bases, func(w *Workspace) bool {
		base, _ := of(w)
		return base == target || base == head
	})
}

// canonicalOf reads an artifact's content in canonical form.
func canonicalOf(a small.Artifact) func(*Workspace) (string, bool) {
	return func(w *Workspace) (string, bool) {
		doc := w.doc(a)
		if doc == nil {
			return "", false
		}
		return doc.Canonical(), true
	}
}

// currentRun is the run that a workspace is at: what the workspace file says,
// or else the handoff.
func currentRun(w *Workspace) (string, bool) {
	if run, ok := w.doc(small.Workspace).Get("run").Get("replay_id").Str(); ok {
		return run, true
	}
	return w.handoffRun()
}

// fork compares two branches from where they parted. changed are the paths in
// which their tips differ.
func (r walker) fork(ctx context.Context, target, head Tip, changed []Change) error {
	dirs := map[string]bool{}
	for _, c := range changed {
		if dir, _, ok := small.SplitPath(c.Path); ok && r.opts.Policy.Judges(dir) && c.Old.Mode != "" && c.New.Mode != "" {
			dirs[dir] = true
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	bases, err := r.src.history.MergeBases(ctx, target.ID, head.ID)
	if err != nil || len(bases) == 0 || slices.Contains(bases, target.ID) || slices.Contains(bases, head.ID) {
		return err
	}
	for _, dir := range sortedKeys(dirs) {
		v, err := r.src.forkOf(ctx, dir, target.ID, head.ID, bases)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		v.Place = Place{Commit: head.ID, Parent: target.ID}
		v.targetName, v.headName, v.predicts = target.Name, head.Name, r.scope.predicts
		r.out.judge(v)
	}
	return nil
}

// forkOf reads a workspace on both branches and where they parted. It returns
// nil where one side holds the other's work already: then one writer followed
// the other, whatever the graph looks like.
func (src *source) forkOf(ctx context.Context, dir, target, head string, bases []string) (*WorkspaceFork, error) {
	v := &WorkspaceFork{dir: dir}
	var err error
	if v.target, err = src.workspaceAt(ctx, target, dir); err != nil {
		return nil, err
	}
	if v.head, err = src.workspaceAt(ctx, head, dir); err != nil {
		return nil, err
	}
	for _, base := range bases {
		w, err := src.workspaceAt(ctx, base, dir)
		if err != nil {
			return nil, err
		}
		v.bases = append(v.bases, w)
	}
	equal := src.equal(small.Progress.Path(dir))
	t, h := v.target.ledger(), v.head.ledger()
	v.targetOnly, v.headOnly = only(t, h, equal), only(h, t, equal)
	for _, w := range v.bases {
		v.targetOnly, v.headOnly = since(v.targetOnly, w.ledger()), since(v.headOnly, w.ledger())
	}
	if v.follows(t, h, equal) || v.follows(h, t, equal) {
		return nil, nil
	}
	return v, nil
}

// follows reports whether the side with ledger c holds all that the side with
// ledger p recorded since the branches parted, and it recorded something.
func (v *WorkspaceFork) follows(p, c *small.Ledger, equal equivalence) bool {
	if !relateWithin(p, c, equal).fine() {
		return false
	}
	return !slices.ContainsFunc(v.bases, func(w *Workspace) bool { return len(since(p.Entries, w.ledger())) == 0 })
}

// ledger is the workspace's ledger, an empty one where there is none to read.
func (w *Workspace) ledger() *small.Ledger {
	if art := w.artifacts[small.Progress]; art != nil && art.log != nil {
		return art.log.Ledger
	}
	return small.NewLedger(nil)
}

// since lists the entries that a ledger lacks.
func since(entries []small.Entry, base *small.Ledger) []small.Entry {
	there := make(map[small.Digest]bool, base.Len())
	for _, e := range base.Entries {
		there[e.Digest] = true
	}
	var out []small.Entry
	for _, e := range entries {
		if !there[e.Digest] {
			out = append(out, e)
		}
	}
	return out
}
