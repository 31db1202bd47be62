package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

// ForkOf reads a workspace on both branches and at their merge bases. It returns nil if one side already holds the
// other's work: then one writer followed the other, whatever the graph looks like.
func (src *Source) ForkOf(ctx context.Context, dir, target, head string, bases []string) (*subject.WorkspaceFork, error) {
	v := &subject.WorkspaceFork{Dir: dir}
	var err error
	if v.Target, err = src.forkSide(ctx, target, dir); err != nil {
		return nil, err
	}
	if v.Head, err = src.forkSide(ctx, head, dir); err != nil {
		return nil, err
	}
	for _, base := range bases {
		w, err := src.forkSide(ctx, base, dir)
		if err != nil {
			return nil, err
		}
		v.Bases = append(v.Bases, w)
	}
	equal := src.Waived(small.Progress.Path(dir))
	t, h := v.Target.Ledger(), v.Head.Ledger()
	v.TargetOnly, v.HeadOnly = ledger.Only(t, h, equal), ledger.Only(h, t, equal)
	for _, w := range v.Bases {
		v.TargetOnly, v.HeadOnly = ledger.Since(v.TargetOnly, w.Ledger()), ledger.Since(v.HeadOnly, w.Ledger())
	}
	if v.Follows(t, h, equal) || v.Follows(h, t, equal) {
		return nil, nil
	}
	records := func(w *subject.Workspace) ledger.RecordsFunc {
		art := w.Artifacts[small.Progress]
		return func() ([]*small.Value, error) {
			return src.Ledgers.Records(ctx, history.File{Path: art.Path, Mode: "100644", Object: art.Object})()
		}
	}
	v.Duplicates, err = ledger.Duplicates(v.TargetOnly, v.HeadOnly, records(v.Target), records(v.Head))
	return v, err
}

// forkSide reads a workspace as of a commit. Of its log there are the entries, and no document.
func (src *Source) forkSide(ctx context.Context, revision, dir string) (*subject.Workspace, error) {
	files, err := src.Tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return nil, err
	}
	path := small.Progress.Path(dir)
	w, err := src.ReadWorkspace(ctx, dir, slices.DeleteFunc(slices.Clone(files), func(f history.File) bool { return f.Path == path }))
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(files, func(f history.File) bool { return f.Path == path }); i >= 0 {
		log, err := src.Ledgers.Read(ctx, files[i], nil)
		if err != nil {
			return nil, err
		}
		w.Artifacts[small.Progress] = &subject.Artifact{Path: path, Object: files[i].Object, Log: log.Log, Problems: log.Problems}
	}
	return w, nil
}
