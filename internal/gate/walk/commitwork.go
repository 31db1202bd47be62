package walk

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// judgeWork judges what a commit did to workspaces. added are the new entries by path of the log.
func (r walker) judgeWork(ctx context.Context, n history.Commit, changes [][]history.Change, dirs []string, added map[string][]ledger.Entry) error {
	if len(dirs) == 0 {
		return nil
	}
	if n.ID == history.Index && len(r.Options.Heads) > 0 {
		var edges []history.Edge
		for _, head := range r.Options.Heads {
			edges = append(edges, history.Edge{Parent: head, Child: history.Index})
		}
		more, err := r.Source.Changes(ctx, edges)
		if err != nil {
			return err
		}
		n.Parents = slices.Concat(n.Parents, r.Options.Heads)
		changes = slices.Concat(changes, more)
	}
	for _, dir := range dirs {
		w := &commitReader{walker: r, commit: n, changes: changes, dir: dir}
		v, err := w.read(ctx, added[small.Progress.Path(dir)])
		if err != nil {
			return err
		}
		v.Commit, v.Situation = n.ID, func() subject.Situation { return r.Situation(n.ID) }
		if len(n.Parents) > 0 {
			v.Parent = n.Parents[0]
		}
		r.Collector.Judge(v)
	}
	return nil
}

// commitReader reads what one commit did to one workspace, and no more than rules need.
type commitReader struct {
	walker
	commit  history.Commit
	changes [][]history.Change
	dir     string
	// files are those of the workspace in the child, once listed.
	files []history.File
}

func (w *commitReader) read(ctx context.Context, added []ledger.Entry) (*subject.CommitWork, error) {
	v := &subject.CommitWork{Dir: w.dir, NewEntries: added}
	var err error
	if v.HumanChanges, err = w.humanChanges(ctx); err != nil {
		return nil, err
	}
	if len(v.HumanChanges) > 0 {
		if v.Authorship, err = w.authorship(ctx, w.commit.ID); err != nil {
			return nil, err
		}
		if v.SameReplayID, err = w.sameReplay(ctx); err == nil && v.SameReplayID {
			v.SameReplayID, err = w.run(ctx, (*ledger.Ledger).RunBegun)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.leases(ctx, v); err != nil {
		return nil, err
	}
	if v.LostTasks, err = w.lostTasks(ctx, added); err == nil && len(v.HumanChanges)+len(v.LostTasks) > 0 {
		v.RunOver, err = w.run(ctx, (*ledger.Ledger).RunOver)
	}
	return v, err
}

// change is what one edge does to a path; ok is false if nothing.
func (w *commitReader) change(edge int, path string) (history.Change, bool) {
	return history.ChangeAt(w.changes[edge], path)
}

func (w *commitReader) differs(path string) bool {
	for i := range w.changes {
		if _, changed := w.change(i, path); !changed {
			return false
		}
	}
	return true
}

// now is a path's file in the child.
func (w *commitReader) now(ctx context.Context, path string) (history.File, error) {
	for i := range w.changes {
		if c, changed := w.change(i, path); changed {
			return c.New, nil
		}
	}
	if w.files == nil {
		var err error
		if w.files, err = w.Source.History.List(ctx, w.commit.ID, history.Workspaces(w.dir)); err != nil {
			return history.File{}, err
		}
	}
	for _, f := range w.files {
		if f.Path == path {
			return f, nil
		}
	}
	return history.File{}, nil
}

// before is a path's file in a parent.
func (w *commitReader) before(ctx context.Context, edge int, path string) (history.File, error) {
	if c, changed := w.change(edge, path); changed {
		return c.Old, nil
	}
	return w.now(ctx, path)
}

// sameReplay reports whether the commit and the tip keep a replay id that a parent's handoff has: the handoff may
// be regenerated in a later commit of the same change.
func (w *commitReader) sameReplay(ctx context.Context) (bool, error) {
	path := small.Handoff.Path(w.dir)
	file, err := w.now(ctx, path)
	if err != nil {
		return false, err
	}
	now, err := w.replayIn(ctx, file)
	if err != nil || now == "" {
		return false, err
	}
	same := false
	for i := range w.changes {
		file, err := w.before(ctx, i, path)
		if err != nil {
			return false, err
		}
		old, err := w.replayIn(ctx, file)
		if err != nil {
			return false, err
		}
		same = same || strings.EqualFold(old, now)
	}
	if !same || w.Scope.Tip.ID == w.commit.ID {
		return same, nil
	}
	tip, err := w.Source.CachedWorkspace(ctx, w.Scope.Tip.ID, w.dir)
	if err != nil {
		return false, err
	}
	last, _ := tip.HandoffRun()
	return strings.EqualFold(last, now), nil
}

func (w *commitReader) replayIn(ctx context.Context, f history.File) (string, error) {
	root, err := w.Source.Document(ctx, f)
	value, _ := root.Get("replayId").Get("value").Str()
	return value, err
}
