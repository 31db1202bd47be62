package edit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/git/directory"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
)

// WrittenID is the result of ReplayID.
type WrittenID struct {
	ID string
	// Files are the paths of the changed files, from the root of the work tree; none if all had the id already. StageCommand is the command
	// that stages them.
	Files        []string
	StageCommand string
}

// ReplayID computes the replay id as the protocol's program does, and writes it into the workspace file and the handoff, each atomically, under the
// workspace's lock. If interrupted, it can be run again. It stages nothing.
func ReplayID(ctx context.Context, req session.Request, locking Locking) (out WrittenID, err error) {
	held, err := lockWorkspace(ctx, req.AtNearestWorkspace(), "replay-id", locking, func(s *session.Session) (string, error) { return s.PathOf(s.Req.Dir) })
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	_, err = held.req.InRepository(ctx, "replay-id", func(s *session.Session) error {
		disk, err := directory.Open(held.req.Dir)
		if err != nil {
			return err
		}
		id, files, err := gate.NewRun(ctx, disk, "", held.dir, s.Opts)
		if err != nil {
			return err
		}
		out = WrittenID{ID: id, StageCommand: "git add -- " + wording.TopPath(small.InDir(held.dir, ""))}
		for _, f := range files {
			if err := wholefile.WriteVia(s.Repo.Where().GitDir, filepath.Join(held.req.Dir, filepath.FromSlash(f.Path)), f.Content); err != nil {
				return &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", f.Path, err), Remedy: "when it can be written, run `small-hook replay-id --write" + remedy.InDirectory(f.Path) + "` again", Err: err}
			}
			out.Files = append(out.Files, f.Path)
		}
		return nil
	})
	return out, err
}
