package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/gate"
)

// ReplayID computes the fingerprints of the workspace of the request's directory, or else of the nearest at or above the current one,
// as its files are on disk, in the index or in a commit.
func ReplayID(ctx context.Context, req session.Request, what session.What) (out gate.ReplayID, err error) {
	req = req.Above()
	_, err = what.In(req)(ctx, "replay-id", func(s *session.Session) error {
		at, err := s.Locate(ctx, what)
		if err == nil {
			out, err = gate.ReplayIDOf(ctx, s.Tree, at.Revision, at.Dir, s.Opts)
		}
		return err
	})
	return out, err
}
