package judge

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
)

// Check judges the workspace of one directory, or of the nearest above the current one, as its files are on disk, in the index or in a
// commit.
func Check(ctx context.Context, req session.Request, what session.State) *finding.Report {
	judge := gate.Check
	if what.Recursive {
		judge, req.Dir = gate.CheckAll, session.WorkspaceRoot(req.Dir)
	} else {
		req = req.AtNearestWorkspace()
		req.Workspace = cmp.Or(req.Workspace, "root")
	}
	return req.JudgeIn(ctx, "check", what.Opener(req), func(s *session.Session) (*finding.Report, error) {
		if what.Against != "" {
			return checkAgainst(ctx, s, what)
		}
		at, err := s.Locate(ctx, what)
		if err == nil {
			err = s.TrustChecked(ctx, at)
		}
		if err != nil {
			return nil, err
		}
		return judge(ctx, s.Tree, at.Revision, at.Dir, s.Opts), nil
	})
}

// checkAgainst judges the files on disk, and what has become of the logs since a commit, whose policy it takes.
func checkAgainst(ctx context.Context, s *session.Session, what session.State) (*finding.Report, error) {
	base, err := s.Commit(ctx, what.Against)
	if err != nil {
		return nil, err
	}
	if err := s.Trust(ctx, base, what.Against); err != nil {
		return nil, err
	}
	files, err := s.WithFiles()
	if err != nil {
		return nil, err
	}
	dir, err := s.PathOf(s.Req.Dir)
	if err != nil {
		return nil, err
	}
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	return gate.CheckAgainst(ctx, files, base, head, dir, what.Recursive, s.Opts), nil
}

// ReplayID computes the replay id of the workspace of the request's directory, or else of the nearest at or above the current one, from its files on
// disk.
func ReplayID(ctx context.Context, req session.Request) (string, error) {
	return inWorkspace(ctx, req, session.State{}, "replay-id", gate.ReplayIDOf)
}

// Digests lists the entry digests of a log as its files are on disk or in a commit. log is a log of the configuration, or a folder of such
// files, or a workspace or its log; empty stands for the nearest workspace at or above the request's directory.
func Digests(ctx context.Context, req session.Request, what session.State, log string) (out []small.Digest, err error) {
	if log == "" {
		return inWorkspace(ctx, req, what, "digests", gate.DigestsOf)
	}
	named := log
	if filepath.Base(named) == small.Progress.FileName() {
		named = filepath.Dir(named)
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(cmp.Or(req.Dir, "."), named)
	}
	if session.HoldsWorkspace(named) {
		there := req
		there.Dir = named
		return inWorkspace(ctx, there, what, "digests", gate.DigestsOf)
	}
	_, err = req.InRepository(ctx, "digests", func(s *session.Session) error {
		o, h, err := placeOf(ctx, s, what.Ref)
		if err != nil {
			return err
		}
		path, err := pathOf(s, log)
		if err == nil {
			out, err = gate.LogDigests(ctx, h, o.Revision, path, s.Opts)
		}
		return err
	})
	return out, err
}

// inWorkspace asks about one workspace.
func inWorkspace[T any](ctx context.Context, req session.Request, what session.State, name string,
	ask func(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (T, error)) (out T, err error) {
	_, err = what.Opener(req.AtNearestWorkspace())(ctx, name, func(s *session.Session) error {
		at, err := s.Locate(ctx, what)
		if err == nil {
			out, err = ask(ctx, s.Tree, at.Revision, at.Dir, s.Opts)
		}
		return err
	})
	return out, err
}
