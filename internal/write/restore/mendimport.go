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

// planLateImport mends a merge in which git took a migration to 2.0.0 for a rename, and so wrote a 1.0.0 branch's log into the original log that an
// import keeps. It does so if files has that log's path: the commit to mend gets a second import for the branch. It returns files with the first
// import's other originals, which git may have changed, too.
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
		for path, data := range imported {
			f := history.File{Path: path, Mode: history.ModePlain}
			if f.Object, err = m.git.Store(ctx, data); err != nil {
				return nil, err
			}
			m.substitutions[path] = substitution{to: f, since: m.toMend}
		}
		for _, name := range slices.Sorted(maps.Keys(originals)) {
			files = append(files, folder+"/"+name)
		}
		break
	}
	return files, nil
}
