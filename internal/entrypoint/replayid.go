package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/directory"
	"github.com/small-gate/small-gate/internal/gate"
)

// ReplayID computes the fingerprints of the workspace of one directory, as its
// files are on disk, in the index or in a commit. On disk it needs no git.
func ReplayID(ctx context.Context, req Request, what What) (gate.ReplayID, error) {
	const mode = "replay-id"
	if what.Staged && what.Ref != "" {
		return gate.ReplayID{}, &gate.Failure{Message: "--staged and --ref exclude each other", Remedy: "give one of them"}
	}
	req.Dir = holding(req.Dir)
	opts, err := req.options(mode, "any")
	if err != nil {
		return gate.ReplayID{}, err
	}
	if !what.Staged && what.Ref == "" {
		dir := req.Dir
		if dir == "" {
			dir = "."
		}
		tree, err := directory.Open(dir)
		if err != nil {
			return gate.ReplayID{}, err
		}
		return gate.ReplayIDOf(ctx, tree, "", "", opts)
	}
	var out gate.ReplayID
	report := inRepository(ctx, req, mode, func(s *session) (*gate.Report, error) {
		revision := gate.Index
		var err error
		if what.Ref != "" {
			if revision, err = s.commit(ctx, what.Ref); err != nil {
				return nil, err
			}
		}
		dir, err := below(s.repo, req.Dir)
		if err != nil {
			return nil, err
		}
		if out, err = gate.ReplayIDOf(ctx, s.repo, revision, dir, s.opts); err != nil {
			return nil, err
		}
		return gate.Nothing(s.opts), nil
	})
	if report.Failure != nil {
		return out, report.Failure
	}
	return out, nil
}
