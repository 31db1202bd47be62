package edit

import (
	"context"
	"errors"
	"path/filepath"

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
		if !log.none && (len(logs) > 1 || one.FirstPath != small.Progress.Path("")) {
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
	// none is true if there is no log, but only files of the configuration's folders.
	none bool
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
		return logToMend{at: at, none: at == "", withLock: func(do func(*session.Session, *lockedWorkspace) error) error {
			return withLock(ctx, withGit(req), locking, findRoot, do)
		}}
	}
	var files []string
	rest := workspace("")
	for _, file := range o.Files {
		stanza, at, err := findConfiguredLog(ctx, req, file)
		switch {
		case err != nil:
			return nil, err
		case stanza != nil && stanza.Entries != policy.FileEntries:
			out = append(out, configured(at))
		case stanza == nil && filepath.Base(file) == small.Progress.FileName():
			out = append(out, workspace(file))
		default:
			if stanza != nil {
				rest = configured("")
			}
			files = append(files, file)
		}
	}
	o.Files = files
	if len(out) == 0 {
		out = append(out, rest)
	}
	return out, nil
}

// mend mends a log, together with the files in the options.
func (m logToMend) mend(ctx context.Context, req session.Request, locking Locking, o restore.MendOptions) (out restore.Mended, err error) {
	release := func() error { return nil }
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
			if err := s.TrustHeadWithStagedLogs(ctx); err != nil {
				return err
			}
		}
		w := restore.Workspace{Place: s.Repo.Where(), Dir: held.dir, At: m.at, Kept: held.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: req.Now}
		atHead := w
		o.MovedTo = func(path string) (*restore.Workspace, error) {
			if m.at != "" {
				atHead.At = path
				return &atHead, nil
			}
			dir, _, _ := small.SplitPath(path)
			other, err := lockWorkspace(ctx, held.req, "restore", locking, func(*session.Session) (string, error) { return dir, nil })
			if err != nil {
				return nil, err
			}
			release = other.Release
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
