package logs

import (
	"context"
	"path"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// RenamedTo returns the path of a new file with the content of the file that is gone, in the same folder if there is one; empty if there is none, or
// if the log is not a folder of files.
func (e *LogChange) RenamedTo(ctx context.Context) (string, error) {
	if !e.isFileEntry() || e.beforeFile.Object == "" || e.Parent == "" || e.Commit == history.WorkTree {
		return "", nil
	}
	edge := history.Edge{Parent: e.Parent, Child: e.Commit}
	added, known := e.Run.Learned.AddedBlobs[edge]
	if !known {
		changes, err := e.Run.Source.History.Diff(ctx, []history.Edge{edge}, history.Filter{All: true})
		if err != nil {
			return "", err
		}
		added = map[string]string{}
		for _, c := range changes[0] {
			if c.Old.Mode != "" || c.New.Mode == "" {
				continue
			}
			for _, key := range []string{c.New.Object, path.Dir(c.Path) + "\x00" + c.New.Object} {
				if _, known := added[key]; !known {
					added[key] = c.Path
				}
			}
		}
		if e.Run.Learned.AddedBlobs == nil {
			e.Run.Learned.AddedBlobs = map[history.Edge]map[string]string{}
		}
		e.Run.Learned.AddedBlobs[edge] = added
	}
	if at := added[path.Dir(e.Path)+"\x00"+e.beforeFile.Object]; at != "" {
		return at, nil
	}
	return added[e.beforeFile.Object], nil
}
