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

// LogSelection selects logs, and which of their entries to show.
type LogSelection struct {
	// Revision is the revision in which the logs are read; empty means the work tree.
	Revision string
	// Paths are paths of logs, and of directories: a directory selects the logs below it. If Paths is empty, the logs of the nearest workspace at or
	// above the current directory are selected; without such a workspace, all logs below the current directory.
	Paths []string
	// Commit is a revision: only the entries that this commit added are shown. If Commit is empty, all entries are shown.
	Commit string
}

// Log finds the entries of the selected logs that match a query.
func Log(ctx context.Context, req session.Request, from LogSelection, q look.Query) (out *finding.Look, err error) {
	if len(from.Paths) == 0 {
		req = req.AtNearestWorkspace()
	}
	_, err = req.InRepository(ctx, "log", func(s *session.Session) error {
		opts, h, err := findTree(ctx, s, from.Revision)
		if err != nil {
			return err
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
		opts.Holder = leases.Holder
		found := make([]bool, len(paths))
		opts.Logs = func(log string) bool {
			selected := false
			for i, path := range paths {
				if path == "" || log == path || strings.HasPrefix(log, path+"/") {
					selected, found[i] = true, true
				}
			}
			return selected
		}
		if len(from.Paths) == 0 {
			opts.Own = func(log string) bool {
				dir, name, inWorkspace := small.SplitPath(log)
				return inWorkspace && dir == paths[0] && (name == small.Progress.FileName() || records.KindOf(name) != "")
			}
		}
		out, err = look.At(ctx, run.New(h, s.Opts, run.Scope{}).Source, opts, q)
		switch missing := slices.Index(found, false); {
		case err != nil:
			return err
		case missing >= 0:
			return noLogAt(paths[missing])
		case len(out.Logs) == 0:
			return noLogAt("")
		}
		return nil
	})
	return out, err
}

func noLogAt(path string) error {
	where := "here"
	if path != "" {
		where = "at or below " + wording.Quote(path)
	}
	return &failure.Error{
		Message: "there is no log " + where,
		Remedy:  "name a log, or a directory that has one, after two dashes: small-hook log -- DIR; to guard a file as a log, see `small-hook init-log --help` (a stanza counts once it is committed)",
	}
}

// explainPath takes the error for a name that is no revision. If a file has this name in dir, the result says how to name a path.
func explainPath(err error, dir, revision string) error {
	if !githistory.MayExist(filepath.Join(dir, revision)) {
		return err
	}
	return &failure.Error{Message: failure.Of(err).Message, Remedy: "a path comes after two dashes: `small-hook log -- " + wording.ShellWord(revision) + "`", Err: err}
}

// findTree finds the files in which logs are read: those of the revision; if revision is empty, those on disk, or in a bare repository those of HEAD. It
// returns options with Revision and Head, and the history that can read these files. The policy is the revision's; if revision is empty, HEAD's.
func findTree(ctx context.Context, s *session.Session, revision string) (opts look.Options, h history.History, err error) {
	if revision != "" {
		if opts.Revision, err = s.ResolveCommit(ctx, revision); err != nil {
			return opts, nil, explainPath(err, s.Req.Dir, revision)
		}
		opts.Head = opts.Revision
		return opts, s.Repo, s.Trust(ctx, opts.Head, revision)
	}
	if opts.Head, err = s.Repo.Head(ctx); err != nil {
		return opts, nil, err
	}
	if err := s.Trust(ctx, opts.Head, "HEAD"); err != nil {
		return opts, nil, err
	}
	if !s.Repo.Where().Bare {
		opts.Revision = history.WorkTree
		h, err = s.OpenWithWorkTree()
		return opts, h, err
	}
	if opts.Revision, h = opts.Head, s.Repo; opts.Head == "" {
		err = &failure.Error{Message: "HEAD names no commit", Remedy: "name a revision; `git for-each-ref --format='%(refname)'` lists the branches and tags"}
	}
	return opts, h, err
}

// pathInRepository turns a path into the path from the repository's root, which itself becomes "". The path is absolute, or relative to the request's
// directory or, as in ":/PATH", to the root. Nothing has to exist at the path.
func pathInRepository(s *session.Session, name string) (string, error) {
	name, fromTop := wording.CutTop(name)
	if fromTop || s.Repo.Where().Top == "" {
		return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/"), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(s.Req.Dir, "."), name)
	}
	existing, rest := session.SplitExisting(name)
	dir, err := s.PathOf(existing)
	return path.Join(dir, filepath.ToSlash(rest)), err
}

// LogOfFile reads the log in data, the content of a file. It returns nil if data is not a log.
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
