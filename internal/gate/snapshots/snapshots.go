package snapshots

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/gate/workflows"
	"github.com/small-gate/small-gate/internal/small"
)

// Changed judges, at the tip, the workspaces that changed.
func Changed(ctx context.Context, r *run.Run) error {
	return At(ctx, r, r.Scope.Tip.ID, run.SortedKeys(r.Scope.Workspaces))
}

// All judges, at the tip, all workspaces.
func All(ctx context.Context, r *run.Run) error { return At(ctx, r, r.Scope.Tip.ID, nil) }

// At judges the workspaces of one revision: all of them, or only those
// in dirs.
func At(ctx context.Context, r *run.Run, revision string, dirs []string) error {
	if dirs != nil && len(dirs) == 0 {
		return nil
	}
	files, err := r.Source.Tree.List(ctx, revision, history.Workspaces(dirs...))
	if err != nil {
		return err
	}
	return of(ctx, r, revision, files)
}

// of judges the workspaces whose files are listed, and notes their ledgers in the report.
func of(ctx context.Context, r *run.Run, revision string, files []history.File) error {
	found, byDir := read.GroupByWorkspace(files)
	found = slices.DeleteFunc(found, func(dir string) bool { return !r.Source.Policy.Judges(dir) })
	if err := noteUnions(ctx, r, revision, found); err != nil {
		return err
	}
	twins, err := twinsOf(ctx, r, revision, found)
	if err != nil {
		return err
	}
	for _, dir := range found {
		w, err := r.Source.ReadWorkspace(ctx, dir, byDir[dir])
		if err != nil {
			return err
		}
		w.Twins = twins[dir]
		if err := judge(ctx, r, w, revision); err != nil {
			return err
		}
	}
	return nil
}

// twinsOf finds, for each of some workspaces, the paths that differ from a directory at or above it in nothing but case.
func twinsOf(ctx context.Context, r *run.Run, revision string, dirs []string) (map[string][]string, error) {
	out := map[string][]string{}
	if len(history.Twins(dirs...).Twins) == 0 {
		return out, nil
	}
	files, err := r.Source.Tree.List(ctx, revision, history.Twins(dirs...))
	for _, f := range files {
		for _, dir := range dirs {
			for _, above := range history.Twins(dir).Twins {
				if twin, like := small.Twin(f.Path, above); like && !slices.Contains(out[dir], twin) {
					out[dir] = append(out[dir], twin)
				}
			}
		}
	}
	return out, err
}

// judge judges a workspace, and notes it and its ledger for the report; in full only the tip's, because
// with every commit's snapshot there would be many.
func judge(ctx context.Context, r *run.Run, w *subject.Workspace, revision string) error {
	r.Examined().Workspaces++
	if art := w.Artifacts[small.Progress]; art != nil && art.Log != nil {
		state := finding.LedgerState{Path: art.Path, Entries: art.Log.Len(), Head: art.Log.Head()}
		if r.Source.History == nil || revision == r.Scope.Tip.ID {
			state.Log = finding.LogEntries(art.Log.Ledger, r.Scope.BranchOf)
		}
		r.Collector.Report.Ledgers = append(r.Collector.Report.Ledgers, state)
	}
	snapshot := *w
	snapshot.Place, snapshot.Strict = rule.Place{Commit: revision, Found: revision == r.Scope.Tip.ID}, r.Collector.Strict
	var err error
	if snapshot.Settled, err = settled(ctx, r, w); err != nil {
		return err
	}
	snapshot.Situation = func(entry small.Digest) subject.Situation { return r.SituationOf(entry, revision) }
	r.Collector.Judge(&snapshot)
	return nil
}

// settled is how many entries of a workspace's log the side has with which it is compared; -1 if it is compared with none.
func settled(ctx context.Context, r *run.Run, w *subject.Workspace) (int, error) {
	art := w.Artifacts[small.Progress]
	switch {
	case r.Source.History == nil:
		return -1, nil
	case art == nil || art.Log == nil:
		return 0, nil
	case r.Scope.Whole:
		return art.Log.Len(), nil
	}
	before := r.Scope.Before()
	if before == "" {
		return 0, nil
	}
	files, err := r.Source.History.List(ctx, before, history.At(art.Path))
	if err != nil || len(files) == 0 {
		return 0, err
	}
	log, err := r.Source.Ledgers.Read(ctx, files[0], nil)
	if err != nil || !log.Readable() {
		return 0, err
	}
	return log.Log.Len(), nil
}

// Here judges the workspace in the directory that is checked.
func Here(ctx context.Context, r *run.Run) error {
	s := r.Scope
	files, err := r.Source.Tree.List(ctx, s.Tip.ID, history.Workspaces(s.Dir))
	if err != nil {
		return err
	}
	_, byDir := read.GroupByWorkspace(files)
	if len(byDir[s.Dir]) == 0 {
		return nil
	}
	w, err := r.Source.ReadWorkspace(ctx, s.Dir, byDir[s.Dir])
	if err != nil {
		return err
	}
	twins, err := twinsOf(ctx, r, s.Tip.ID, []string{s.Dir})
	if err != nil {
		return err
	}
	w.Twins = twins[s.Dir]
	if err := judge(ctx, r, w, s.Tip.ID); err != nil {
		return err
	}
	return noteUnions(ctx, r, s.Tip.ID, []string{s.Dir})
}

// Below judges the workspaces at or below the directory that is checked.
func Below(ctx context.Context, r *run.Run) error {
	files, err := r.Source.Tree.List(ctx, r.Scope.Tip.ID, history.Workspaces())
	if err != nil {
		return err
	}
	return of(ctx, r, r.Scope.Tip.ID, workflows.FilesBelow(files, r.Scope.Dir))
}
