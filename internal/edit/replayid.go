package edit

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
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

// ReplayID computes the replay id as the protocol's program does, and writes it into the workspace file and the handoff, each atomically. If
// interrupted, it can be run again. It stages nothing.
func ReplayID(ctx context.Context, req session.Request) (out WrittenID, err error) {
	req = req.AtNearestWorkspace()
	_, err = req.InRepository(ctx, "replay-id", func(s *session.Session) error {
		dir, err := s.PathOf(s.Req.Dir)
		if err != nil {
			return err
		}
		top, err := s.Repo.Where().WorkTree()
		if err != nil {
			return err
		}
		disk, err := directory.Open(top)
		if err != nil {
			return err
		}
		id, files, err := gate.NewRun(ctx, disk, "", dir, s.Opts)
		if err != nil {
			return err
		}
		out = WrittenID{ID: id, StageCommand: "git add -- " + wording.TopPath(small.InDir(dir, ""))}
		for _, f := range files {
			if err := wholefile.WriteVia(s.Repo.Where().GitDir, filepath.Join(top, filepath.FromSlash(f.Path)), f.Content); err != nil {
				return &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", f.Path, err), Remedy: "when it can be written, run `small-hook replay-id --write` again", Err: err}
			}
			out.Files = append(out.Files, f.Path)
		}
		return nil
	})
	return out, err
}
