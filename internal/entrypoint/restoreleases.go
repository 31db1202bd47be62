package entrypoint

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// RestoredLeases is what RestoreLeases has written.
type RestoredLeases struct {
	// Plan is the path of the plan, from the root of the work tree, Tasks those whose leases are back, and Add the command that stages it.
	Plan  string
	Tasks []string
	Add   string
}

// RestoreLeases puts the leases of others that the plan in a commit has, HEAD's if none is named, back into the plan on disk, in one step.
// Nothing is staged.
func RestoreLeases(ctx context.Context, req Request, revision string) (out RestoredLeases, err error) {
	req = req.above()
	_, err = req.inRepository(ctx, "restore-leases", func(s *session) error {
		place, dir, err := s.workTree()
		if err != nil {
			return err
		}
		id, err := s.commit(ctx, cmp.Or(revision, "HEAD"))
		if err != nil {
			return err
		}
		disk, err := directory.Open(place.Top)
		if err != nil {
			return err
		}
		plan, tasks, err := gate.RestoreLeases(ctx, disk, s.tree, id, dir, req.Agent(), s.opts)
		if err != nil {
			return err
		}
		out = RestoredLeases{Plan: plan.Path, Tasks: tasks, Add: "git add -- " + wording.ShellWord(":/"+plan.Path)}
		if len(tasks) == 0 {
			return nil
		}
		if err := wholefile.WriteVia(place.GitDir, filepath.Join(place.Top, filepath.FromSlash(plan.Path)), plan.Content); err != nil {
			return &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", plan.Path, err), Err: err}
		}
		return nil
	})
	return out, err
}
