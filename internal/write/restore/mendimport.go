package restore

import (
	"context"
	"maps"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// planLateImport has the first commit keep, in an import of its own, the log of a branch of 1.0.0 that git has written into one of some files. It
// returns those with the other originals of that import, which git may have written too.
func (m *mending) planLateImport(ctx context.Context, files []string) ([]string, error) {
	for _, path := range files {
		dir, name, _ := small.SplitPath(path)
		if !records.IsOriginalLog(name) {
			continue
		}
		all := map[string]map[string]history.File{}
		for _, id := range append([]string{m.toMend}, m.parents[m.toMend]...) {
			listed, err := m.repo.List(ctx, id, history.Workspaces(dir))
			if err != nil {
				return nil, err
			}
			all[id] = map[string]history.File{}
			for _, f := range listed {
				all[id][f.Path] = f
			}
		}
		folder := small.InDir(dir, records.ImportOf(name)+"/originals")
		originals := reconcile.FilesBelow(all[m.toMend], folder)
		var migrated map[string]history.File
		for _, p := range m.parents[m.toMend] {
			if _, there := all[p][path]; there {
				migrated = all[p]
			} else if _, v1 := all[p][m.Log()]; v1 {
				originals = reconcile.FilesBelow(all[p], small.InDir(dir, ""))
			}
		}
		made, err := reconcile.LateImport(ctx, m.repo, migrated, originals, dir, m.Limits)
		if err != nil {
			return nil, err
		}
		for at, data := range made {
			is := history.File{Path: at, Mode: history.ModePlain}
			if is.Object, err = m.git.Store(ctx, data); err != nil {
				return nil, err
			}
			m.substitutions[at] = substitution{to: is}
		}
		for _, name := range slices.Sorted(maps.Keys(originals)) {
			files = append(files, folder+"/"+name)
		}
		break
	}
	return files, nil
}
