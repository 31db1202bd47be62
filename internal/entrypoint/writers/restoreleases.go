package writers

import (
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/gate"
)

// RestoredLeases is what RestoreLeases has written.
type RestoredLeases struct {
	// Plan is the path of the plan, from the root of the work tree, and Tasks those whose leases are back.
	Plan  string
	Tasks []string
}

// RestoreLeases puts the leases of others that the plan in a commit has, HEAD's if none is named, back into the plan on disk, in one step,
// and stages it. The workspace is found as in Restore.
func RestoreLeases(ctx context.Context, req session.Request, with Locking, at, source string) (out RestoredLeases, err error) {
	err = restoring(ctx, req, with, at, func(s *session.Session, g *guarding) error {
		id, err := s.Commit(ctx, cmp.Or(source, "HEAD"))
		if err != nil {
			return err
		}
		disk, err := directory.Open(g.Place.Top)
		if err != nil {
			return err
		}
		plan, tasks, err := gate.RestoreLeases(ctx, disk, s.Tree, id, g.Dir, req.Agent(), s.Opts)
		out = RestoredLeases{Plan: plan.Path, Tasks: tasks}
		if err != nil || len(tasks) == 0 {
			return err
		}
		return g.Rewrite(ctx, plan.Path, plan.Content, req.Environ)
	})
	return out, err
}
