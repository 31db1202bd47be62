package judge

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/look"
	"github.com/small-gate/small-gate/internal/gate/rules/leases"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// LogSelection selects logs, and a commit whose entries to show.
type LogSelection struct {
	// Revision has the logs; empty means the work tree.
	Revision string
	// Paths are logs, and directories with logs at or below them. By default they are the logs of the nearest workspace at or above the
	// current directory, or else all logs below the current directory.
	Paths []string
	// Commit is a revision: only the entries that this commit added are shown. If it is empty, all entries are.
	Commit string
}

// Log finds the entries of the selected logs that match a query.
func Log(ctx context.Context, req session.Request, from LogSelection, q look.Query) (out *finding.Look, err error) {
	if len(from.Paths) == 0 {
		req = req.AtNearestWorkspace()
	}
	_, err = req.InRepository(ctx, "log", func(s *session.Session) error {
		o, h, err := findTree(ctx, s, from.Revision)
		if err != nil {
			return explainPath(err, s.Req.Dir, from.Revision)
		}
		if from.Commit != "" {
			if q.Commit, err = s.ResolveCommit(ctx, from.Commit); err != nil {
				return err
			}
		}
		paths := slices.Clone(from.Paths)
		if len(paths) == 0 {
			paths = []string{""}
		}
		for i := range paths {
			if paths[i], err = pathInRepository(s, paths[i]); err != nil {
				return err
			}
		}
		o.Holder = leases.Holder
		o.Logs = func(log string) bool {
			return slices.ContainsFunc(paths, func(path string) bool { return path == "" || log == path || strings.HasPrefix(log, path+"/") })
		}
		if len(from.Paths) == 0 {
			o.Own = func(log string) bool {
				dir, name, inWorkspace := small.SplitPath(log)
				return inWorkspace && dir == paths[0] && (name == small.Progress.FileName() || records.KindOf(name) != "")
			}
		}
		if out, err = look.At(ctx, run.New(h, s.Opts, run.Scope{}).Source, o, q); err == nil && len(out.Logs) == 0 {
			err = &failure.Error{Message: "there is no log here", Remedy: "name a log, or a directory that has one, after two dashes: small-hook log -- DIR; to guard a file as a log, see `small-hook init-log --help`"}
		}
		return err
	})
	return out, err
}

// explainPath adds to err, the error for a revision that cannot be resolved, how to name a path, if the revision is one below dir.
func explainPath(err error, dir, revision string) error {
	if revision == "" || !githistory.MayExist(filepath.Join(dir, revision)) {
		return err
	}
	return &failure.Error{Message: failure.Of(err).Message, Remedy: "a path comes after two dashes: `small-hook log -- " + wording.ShellWord(revision) + "`", Err: err}
}

// findTree finds the tree to read logs from, and sets Revision and Head of o: the tree is that of the revision, or if revision is empty the
// files on disk (in a bare repository, HEAD's tree). h has this tree. The policy is the revision's, or HEAD's.
func findTree(ctx context.Context, s *session.Session, revision string) (o look.Options, h history.History, err error) {
	if revision != "" {
		if o.Revision, err = s.ResolveCommit(ctx, revision); err != nil {
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
		h, err = s.OpenWithWorkTree()
		return o, h, err
	}
	if o.Revision, h = o.Head, s.Repo; o.Head == "" {
		err = &failure.Error{Message: "HEAD names no commit", Remedy: "name a revision; `git for-each-ref --format='%(refname)'` lists the branches and tags"}
	}
	return o, h, err
}

// pathInRepository turns a path, absolute or relative to the request's directory, into the path from the repository's root; "" for the root
// itself. It need not exist on disk.
func pathInRepository(s *session.Session, name string) (string, error) {
	if s.Repo.Where().Top == "" {
		return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/"), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(s.Req.Dir, "."), name)
	}
	existing, rest := session.SplitExisting(name)
	dir, err := s.PathOf(existing)
	return path.Join(dir, filepath.ToSlash(rest)), err
}

// LogOfFile reads the log in a file's content; nil if that holds none.
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
