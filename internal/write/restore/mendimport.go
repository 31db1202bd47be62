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

// A migration to 2.0.0 is an import: it moves the files of 1.0.0, such as the log, into the import's folder "originals". If git takes the move for a
// rename, a later merge of a branch of 1.0.0 writes the branch's entries into the log in that folder.
//
// planLateImport mends a commit that changed such a log, if files has the log's path. It plans a second import, of the branch's files. If no parent is
// of 1.0.0, as after a rebase or a squash, it plans an import of the changed files in "originals". It returns files plus the paths of the files in
// "originals" that have the names of the imported files: git may have changed those, too.
func (m *mending) planLateImport(ctx context.Context, files []string) ([]string, error) {
	for _, path := range files {
		dir, name, _ := small.SplitPath(path)
		if !records.IsOriginalLog(name) {
			continue
		}
		filesOf := map[string]map[string]history.File{} // by commit and path
		for _, id := range append([]string{m.toMend}, m.parents[m.toMend]...) {
			var err error
			if filesOf[id], err = history.ListByPath(ctx, m.repo, id, history.Workspaces(dir)); err != nil {
				return nil, err
			}
		}
		folder := small.InDir(dir, records.ImportOf(name)+"/originals")
		originals := reconcile.FilesBelow(filesOf[m.toMend], folder)
		var migrated map[string]history.File
		for _, p := range m.parents[m.toMend] {
			if _, isMigrated := filesOf[p][path]; isMigrated {
				migrated = filesOf[p]
			} else if _, isVersion1 := filesOf[p][m.Log()]; isVersion1 {
				originals = reconcile.FilesBelow(filesOf[p], small.InDir(dir, ""))
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
