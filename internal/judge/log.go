package judge

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/look"
	"github.com/small-gate/small-gate/internal/gate/rules/leases"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Looked says where to look for entries.
type Looked struct {
	// Revision has the logs; empty means the work tree.
	Revision string
	// Paths are logs, and directories, which stand for all logs at or below them. By default it is the log of the workspace here or above,
	// or else all logs below.
	Paths []string
	// Commit is a revision: only entries that it added are wanted. Empty means all.
	Commit string
}

// Log shows the entries of logs that a query wants.
func Log(ctx context.Context, req session.Request, at Looked, q look.Query) (out *finding.Look, err error) {
	if len(at.Paths) == 0 {
		req = req.AtNearestWorkspace()
	}
	_, err = req.InRepository(ctx, "log", func(s *session.Session) error {
		o, h, err := placeOf(ctx, s, at.Revision)
		if err != nil {
			return err
		}
		if at.Commit != "" {
			if q.Commit, err = s.Commit(ctx, at.Commit); err != nil {
				return err
			}
		}
		dirs := slices.Clone(at.Paths)
		if len(dirs) == 0 {
			dirs = []string{""}
		}
		for i := range dirs {
			if dirs[i], err = pathOf(s, dirs[i]); err != nil {
				return err
			}
		}
		o.Holder = leases.Holder
		o.Logs = func(log string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return dir == "" || log == dir || strings.HasPrefix(log, dir+"/") })
		}
		if len(at.Paths) == 0 {
			o.Own = func(log string) bool {
				dir, name, in := small.SplitPath(log)
				return in && dir == dirs[0] && (name == small.Progress.FileName() || records.KindOf(name) != "")
			}
		}
		if out, err = look.At(ctx, run.New(h, s.Opts, run.Scope{}).Source, o, q); err == nil && len(out.Logs) == 0 {
			err = &failure.Error{Message: "there is no log here", Remedy: "name a log, or a directory that has one, after two dashes: small-hook log -- DIR. Of a workspace of SMALL 2.0.0, git log -p -- .small shows what was recorded"}
		}
		return err
	})
	return out, err
}

// placeOf finds the tree that has the logs, and takes the policy from it.
func placeOf(ctx context.Context, s *session.Session, revision string) (o look.Options, h history.History, err error) {
	if revision != "" {
		if o.Revision, err = s.Commit(ctx, revision); err != nil {
			return o, nil, err
		}
		o.Head = o.Revision
		return o, s.Repo, s.Trust(ctx, o.Head, revision)
	}
	if o.Head, err = s.Repo.Head(ctx); err != nil {
		return o, nil, err
	}
	if err := s.Trust(ctx, o.Head, "HEAD"); err != nil {
		return o, nil, err
	}
	if !s.Repo.Where().Bare {
		o.Revision = history.WorkTree
		h, err = s.WithFiles()
		return o, h, err
	}
	if o.Revision, h = o.Head, s.Repo; o.Head == "" {
		err = &failure.Error{Message: "HEAD names no commit", Remedy: "name a revision; `git for-each-ref --format='%(refname)'` lists the branches and tags"}
	}
	return o, h, err
}

// pathOf is the repository's path for a path below the request's directory, "" for the root. It need not exist on disk.
func pathOf(s *session.Session, name string) (string, error) {
	if s.Repo.Where().Top == "" {
		return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/"), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(s.Req.Dir, "."), name)
	}
	there, gone := session.SplitExisting(name)
	dir, err := s.PathOf(there)
	return path.Join(dir, filepath.ToSlash(gone)), err
}

// LogOfFile is the log that a file holds, nil if it holds none.
func LogOfFile(data []byte) *finding.Look {
	doc, _ := small.Parse(data, small.Limits{MaxFileSize: int64(len(data)) + 1})
	if doc == nil {
		return nil
	}
	log, _ := ledger.LogOf(doc, data)
	if log == nil {
		return nil
	}
	out := &finding.Look{}
	for i, e := range log.Entries {
		out.Entries = append(out.Entries, finding.Recorded{Entry: e, Value: doc.Root.Get("entries").Items[i]})
	}
	return out
}
