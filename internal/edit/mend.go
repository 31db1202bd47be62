package edit

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// Mended is what Mend did to one log. Argument is a space and the log's path, for a command; it is empty where a command needs no path: for the
// log of the workspace at the root, and for files of the configuration's folders.
type Mended struct {
	restore.Mended
	Argument string
}

// Mend rewrites a commit that nobody else has so that its logs have lost nothing, and the commits after it: see restore.Workspace.Mend. It mends
// the logs among the files of the options one after the other; if there are none, the log of the workspace that Restore finds. After an error, out
// has the logs that were mended before.
func Mend(ctx context.Context, req session.Request, locking Locking, o restore.MendOptions) (out []Mended, err error) {
	logs, err := selectLogs(ctx, req, locking, &o)
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		one, err := log.mend(ctx, req, locking, o)
		if err != nil {
			return out, err
		}
		if one.NoLog && len(logs) == 1 && len(o.Files) == 0 {
			return out, &failure.Error{
				Message: wording.Printable(o.Commit) + " has no " + wording.Printable(one.FirstPath) + ", and its parents have none",
				Remedy:  "name the log by the path that it had there: `git log --oneline --name-only --follow -- " + wording.TopPath(one.FirstPath) + "` lists the paths",
			}
		}
		words := ""
		if !log.onlyFiles && (len(logs) > 1 || one.FirstPath != small.Progress.Path("")) {
			words = " " + wording.TopPath(one.FirstPath)
		}
		out = append(out, Mended{one, words})
		o.Files = nil
		if one.New != one.Old {
			o.Commit = one.Remade
		}
	}
	return out, nil
}

// logToMend is a log that Mend mends.
type logToMend struct {
	// at is the log's path if it is a log of the configuration; empty for the log of a workspace.
	at string
	// onlyFiles is true if there is no log, but only files of the configuration's folders.
	onlyFiles bool
	// withLock runs a function under the log's lock.
	withLock func(do func(*session.Session, *lockedWorkspace) error) error
}

// selectLogs returns the logs to mend: the named logs of workspaces, and the named logs of the configuration that are one file each; without any,
// the workspace that Restore finds. It leaves the other named files in the options. Files of the configuration's folders need no workspace.
func selectLogs(ctx context.Context, req session.Request, locking Locking, o *restore.MendOptions) (out []logToMend, err error) {
	workspace := func(at string) logToMend {
		return logToMend{withLock: func(do func(*session.Session, *lockedWorkspace) error) error {
			return withLockedWorkspace(ctx, req, locking, at, o.Commit+"^", do)
		}}
	}
	configured := func(at string) logToMend {
		return logToMend{at: at, onlyFiles: at == "", withLock: func(do func(*session.Session, *lockedWorkspace) error) error {
			return withLock(ctx, withGit(req), locking, findRoot, do)
		}}
	}
	named, err := findNamed(ctx, req, o.Files, o.Commit)
	if err != nil {
		return nil, err
	}
	rest := workspace("")
	o.Files = nil
	for _, n := range named {
		switch {
		case n.stanza != nil && n.stanza.Entries != policy.FileEntries:
			out = append(out, configured(n.at))
		case n.stanza == nil && filepath.Base(n.name) == small.Progress.FileName():
			out = append(out, workspace(n.name))
		default:
			if n.stanza != nil {
				rest = configured("")
			}
			o.Files = append(o.Files, n.name)
		}
	}
	if len(out) == 0 {
		out = append(out, rest)
	}
	return out, nil
}

// namedFile is a file, or a folder, that a command names. stanza is that of the configured log to which the file at the path at belongs, or some file
// in the folder; nil if there is none.
type namedFile struct {
	name, at string
	stanza   *policy.Log
}

// findNamed finds the configured logs to which named files belong. A folder of files that must not change may be named, too.
func findNamed(ctx context.Context, req session.Request, names []string, commit string) (out []namedFile, err error) {
	if len(names) == 0 { // the request's directory may be gone
		return nil, nil
	}
	_, err = withGit(req).InRepository(ctx, "restore", func(s *session.Session) error {
		out = nil
		if err := s.TrustHeadWithStagedStanzas(ctx); err != nil {
			return err
		}
		for _, name := range names {
			n := namedFile{name: name}
			if len(s.Opts.Policy.Logs) > 0 {
				if n.at, err = pathFromTop(s, req.Dir, name); err != nil {
					return err
				}
				if n.stanza = s.Opts.Policy.LogFor(n.at); n.stanza == nil {
					if n.stanza, err = findFolder(ctx, s, n.at, commit); err != nil {
						return err
					}
				}
			}
			out = append(out, n)
		}
		return nil
	})
	return out, err
}

// findFolder finds the stanza of a file below a folder, among the files that must not change; nil if HEAD and the parents of a commit have none.
func findFolder(ctx context.Context, s *session.Session, folder, commit string) (*policy.Log, error) {
	for _, revision := range []string{"HEAD", commit + "^", commit + "^2"} {
		id, err := s.Repo.Resolve(ctx, revision)
		if errors.Is(err, history.ErrLacking) { // there is no such parent; a missing commit is reported when it is mended
			continue
		}
		if err != nil {
			return nil, err
		}
		files, err := restore.FilesInFolder(ctx, s.Repo, id, s.Opts.Policy, folder)
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			return s.Opts.Policy.LogFor(files[0]), nil
		}
	}
	return nil, nil
}

// lockFirst is the error if the workspace of a directory has to be locked before the one that is locked. req is the request of that one.
type lockFirst struct {
	req session.Request
	dir string
}

func (e *lockFirst) Error() string { return "another workspace has to be locked first" }

// mend mends a log, together with the files in the options. If the log has moved to a workspace that all processes lock before the one where it was,
// as withAllLocks does, mend begins again with that lock.
func (m logToMend) mend(ctx context.Context, req session.Request, locking Locking, o restore.MendOptions) (restore.Mended, error) {
	out, err := m.mendBelow(ctx, req, locking, o, nil)
	for first := new(lockFirst); errors.As(err, &first); {
		var other *lockedWorkspace
		if other, err = lockWorkspace(ctx, first.req, "restore", locking, func(*session.Session) (string, error) { return first.dir, nil }); err != nil {
			break
		}
		out, err = m.mendBelow(ctx, req, locking, o, other)
		err = errors.Join(err, other.Release())
	}
	return out, err
}

// mendBelow is mend under the lock of another workspace; nil if there is none.
func (m logToMend) mendBelow(ctx context.Context, req session.Request, locking Locking, o restore.MendOptions, above *lockedWorkspace) (out restore.Mended, err error) {
	release := func() error { return nil }
	o.Files = slices.Clone(o.Files)
	err = m.withLock(func(s *session.Session, held *lockedWorkspace) error {
		for i, file := range o.Files {
			if o.Files[i], err = pathFromTop(s, req.Dir, file); err != nil {
				return err
			}
		}
		if err := putBackLost(ctx, s, held); err != nil {
			return err
		}
		// The policy is that of the commit's parent: what the commit itself or a later one accepts does not count. A first commit has no
		// parent; w.Mend reports any other error in the name.
		before, resolveErr := s.Repo.Resolve(ctx, o.Commit+"^")
		if resolveErr != nil {
			before = ""
		}
		if err := s.UseFloor(); err != nil {
			return err
		}
		if err := s.Trust(ctx, before, o.Commit+"^"); err != nil {
			return err
		}
		if m.at != "" && s.Opts.Policy.LogFor(m.at) == nil { // the stanza, by which the loss was found, is younger than the commit
			if err := s.TrustHeadWithStagedStanzas(ctx); err != nil {
				return err
			}
		}
		w := restore.Workspace{Place: s.Repo.Where(), Dir: held.dir, At: m.at, Kept: held.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: req.Now}
		atHead := w
		o.LockWorkspaceOf = func(path string) (*restore.Workspace, error) {
			if m.at != "" {
				atHead.At = path
				return &atHead, nil
			}
			dir, _, _ := small.SplitPath(path)
			other := above
			switch {
			case above != nil && above.dir == dir:
			case dir > held.dir:
				return nil, &lockFirst{held.req, dir}
			default:
				if other, err = lockWorkspace(ctx, held.req, "restore", locking, func(*session.Session) (string, error) { return dir, nil }); err != nil {
					return nil, err
				}
				release = other.Release
			}
			atHead.Dir, atHead.Kept = dir, other.Dir
			return &atHead, putBackLost(ctx, s, other)
		}
		if out, err = w.Mend(ctx, s.Repo, o, req.Environ); err != nil || out.New == out.Old {
			return err
		}
		parents, err := s.ParentsOfNextCommit(ctx, out.New, nil)
		if err != nil {
			return err
		}
		mark, err := restore.MarkOf(ctx, s.Repo, parents)
		if err != nil {
			return err
		}
		return atHead.WriteNote(mark)
	})
	return out, errors.Join(err, release())
}

// putBackLost puts back entries that a writer without the lock has lost, as long as the note counts. It does nothing if HEAD has no log that is a
// regular file.
func putBackLost(ctx context.Context, s *session.Session, held *lockedWorkspace) error {
	head, err := s.Repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	files, err := s.Repo.List(ctx, head, history.At(small.Progress.Path(held.dir)))
	if err != nil || len(files) != 1 || !files[0].Regular() {
		return err
	}
	g, err := held.readState(ctx)
	if err == nil {
		_, err = g.putBackRecorded()
	}
	return err
}
