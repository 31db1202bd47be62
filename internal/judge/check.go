package judge

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
)

// Check judges the workspace in the request's directory; if the request names no directory, the nearest workspace at or above the current directory. With
// state.Recursive, it judges every workspace at or below the request's directory. state says whether the files on disk, in the index or in a commit
// are judged.
func Check(ctx context.Context, req session.Request, state session.State) *finding.Report {
	judge := gate.Check
	if state.Recursive {
		judge, req.Dir = gate.CheckAll, session.WorkspaceRoot(req.Dir)
	} else {
		req = req.AtNearestWorkspace()
		if req.Dir == "" {
			req.Dir = session.WorkTreeRootOf("") // without a workspace, the logs of the configuration are judged
		}
		req.WorkspaceKind = cmp.Or(req.WorkspaceKind, "root")
	}
	return req.JudgeIn(ctx, "check", state.Opener(req), func(s *session.Session) (*finding.Report, error) {
		if state.Against != "" {
			return checkAgainst(ctx, s, state)
		}
		at, err := s.Locate(ctx, state)
		if err == nil {
			err = s.TrustLocated(ctx, at)
		}
		if err != nil {
			return nil, err
		}
		return judge(ctx, s.Tree, at.Revision, at.Dir, s.Opts), nil
	})
}

// checkAgainst judges the files on disk, and how the logs have changed since the commit state.Against. The policy is that commit's.
func checkAgainst(ctx context.Context, s *session.Session, state session.State) (*finding.Report, error) {
	base, err := s.ResolveCommit(ctx, state.Against)
	if err != nil {
		return nil, err
	}
	if err := s.Trust(ctx, base, state.Against); err != nil {
		return nil, err
	}
	withWorkTree, err := s.OpenWithWorkTree()
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
	return gate.CheckAgainst(ctx, withWorkTree, base, head, dir, state.Recursive, s.Opts), nil
}

// ReplayID computes the replay id of a workspace from the workspace's files on disk. The workspace is in the request's directory; if the request names no
// directory, it is the nearest one at or above the current directory.
func ReplayID(ctx context.Context, req session.Request) (string, error) {
	return inWorkspace(ctx, req, session.State{}, "replay-id", gate.ReplayIDOf)
}

// Digests lists the entry digests of a log on disk or in a commit. log is a path: of a workspace, of a workspace's log, or of a log that the configuration
// lists: a file, or a folder whose files are entries. If log is empty, Digests takes the log of the workspace that ReplayID would take.
func Digests(ctx context.Context, req session.Request, state session.State, log string) (out []small.Digest, err error) {
	if log == "" {
		return inWorkspace(ctx, req, state, "digests", gate.DigestsOf)
	}
	dir := log
	if filepath.Base(dir) == small.Progress.FileName() {
		dir = filepath.Dir(dir)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cmp.Or(req.Dir, "."), dir)
	}
	if session.HoldsWorkspace(dir) {
		req.Dir = dir
		return inWorkspace(ctx, req, state, "digests", gate.DigestsOf)
	}
	_, err = req.InRepository(ctx, "digests", func(s *session.Session) error {
		at, h, err := findTree(ctx, s, state.Ref)
		if err != nil {
			return err
		}
		path, err := pathInRepository(s, log)
		if err != nil {
			return err
		}
		if path == small.Dir || strings.HasSuffix(path, "/"+small.Dir) {
			path = strings.TrimSuffix(strings.TrimSuffix(path, small.Dir), "/")
		}
		files, err := h.List(ctx, at.Revision, history.Workspaces(path))
		switch {
		case err != nil:
			return err
		case len(files) > 0: // the commit has a workspace here, though the disk has none
			out, err = gate.DigestsOf(ctx, h, at.Revision, path, s.Opts)
		default:
			out, err = gate.LogDigests(ctx, h, at.Revision, path, s.Opts)
		}
		return err
	})
	return out, err
}

// inWorkspace finds the workspace of a request, calls compute with it, and returns what compute returns. state says whether the workspace's files on disk,
// in the index or in a commit are read. command is the command's name.
func inWorkspace[T any](ctx context.Context, req session.Request, state session.State, command string,
	compute func(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (T, error)) (out T, err error) {
	_, err = state.Opener(req.AtNearestWorkspace())(ctx, command, func(s *session.Session) error {
		at, err := s.Locate(ctx, state)
		if err == nil {
			out, err = compute(ctx, s.Tree, at.Revision, at.Dir, s.Opts)
		}
		return err
	})
	return out, err
}
