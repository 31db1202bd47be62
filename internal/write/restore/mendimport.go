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

// planLateImport acts if a file is the original log of an import: git has written the log of a merged 1.0.0 branch into it. Then the commit
// to mend gets a second import for that branch. The files are returned with the first import's other originals: git may have written them too.
func (m *mending) planLateImport(ctx context.Context, files []string) ([]string, error) {
	for _, path := range files {
		dir, name, _ := small.SplitPath(path)
		if !records.IsOriginalLog(name) {
			continue
		}
		all := map[string]map[string]history.File{}
		for _, id := range append([]string{m.toMend}, m.parents[m.toMend]...) {
			var err error
			if all[id], err = history.ListByPath(ctx, m.repo, id, history.Workspaces(dir)); err != nil {
				return nil, err
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
		imported, err := reconcile.NewLateImport(ctx, m.repo, migrated, originals, dir, m.Limits)
		if err != nil {
			return nil, err
		}
		for name, data := range imported {
			f := history.File{Path: name, Mode: history.ModePlain}
			if f.Object, err = m.git.Store(ctx, data); err != nil {
				return nil, err
			}
			m.substitutions[name] = substitution{to: f, since: m.toMend}
		}
		for _, name := range slices.Sorted(maps.Keys(originals)) {
			files = append(files, folder+"/"+name)
		}
		break
	}
	return files, nil
}
