package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// findRoot finds the root of the work tree, whose lock guards all logs of the configuration. That lock is taken after all others.
func findRoot(*session.Session) (string, error) { return "", nil }

// findConfiguredLog finds the stanza for a file that is named relative to the request's directory, and the file's path from the root of the work
// tree. The stanza is nil if the configurations in HEAD and the index have no log there.
func findConfiguredLog(ctx context.Context, req session.Request, name string) (stanza *policy.Log, at string, err error) {
	_, err = withGit(req).InRepository(ctx, "restore", func(s *session.Session) error {
		if err := s.TrustHeadWithStagedStanzas(ctx); err != nil || len(s.Opts.Policy.Logs) == 0 {
			return err
		}
		if at, err = pathFromTop(s, req.Dir, name); err == nil {
			stanza = s.Opts.Policy.LogFor(at)
		}
		return err
	})
	return stanza, at, err
}

// withLockedLog runs do with the log of the configuration at a path, under the lock of all such logs.
func withLockedLog(ctx context.Context, req session.Request, mode string, locking Locking, at string, do func(s *session.Session, w *restore.Workspace) error) (err error) {
	held, err := lockWorkspace(ctx, withGit(req), mode, locking, findRoot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	_, err = held.req.InRepository(ctx, mode, func(s *session.Session) error {
		if err := s.UseFloor(); err != nil {
			return err
		}
		if err := s.TrustHeadWithStagedStanzas(ctx); err != nil {
			return err
		}
		return do(s, &restore.Workspace{Place: s.Repo.Where(), At: at, Kept: held.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: req.Now})
	})
	return err
}

// ConfiguredLogs lists the logs of the configuration in the work tree; none in a bare repository.
func ConfiguredLogs(ctx context.Context, req session.Request) (logs []policy.Log, err error) {
	_, err = req.InRepository(ctx, "logs", func(s *session.Session) error {
		top := s.Repo.Where().Top
		if top == "" {
			return nil
		}
		err := s.TrustRoot(top)
		if err == nil {
			logs = s.Opts.Policy.Logs
		}
		return err
	})
	return logs, err
}

// restoreLog restores a log of the configuration, as Restore does.
func restoreLog(ctx context.Context, req session.Request, locking Locking, stanza *policy.Log, at, source string, discard bool) (out restore.Restored, err error) {
	if discard && stanza.Entries == policy.FileEntries {
		return out, refuseDiscard(at)
	}
	sound := ""
	err = withLockedLog(ctx, req, "restore", locking, at, func(s *session.Session, w *restore.Workspace) (err error) {
		from := func(source string) error {
			if stanza.Entries == policy.FileEntries {
				out, err = w.RestoreFile(ctx, s.Repo, source, req.Environ)
			} else {
				out, err = w.RestoreFrom(ctx, s.Repo, source, nil, discard, req.Environ)
			}
			return err
		}
		err = from(source)
		unreadable := errors.Is(err, restore.ErrUnreadable)
		if err != nil && !unreadable || out.Done() || source != "" || discard {
			return err
		}
		if err := refuseCommittedBreak(ctx, req, at); err != nil {
			return err
		}
		there, findErr := state.Exists(filepath.Join(w.Place.Top, filepath.FromSlash(at)))
		if findErr == nil && (unreadable || !there) {
			sound, findErr = w.FindLastSound(ctx, s.Repo, req.Environ)
		}
		if findErr == nil && sound != "" {
			return from(sound)
		}
		if findErr == nil && err == nil && !there {
			err = &failure.Error{Message: "there is no " + wording.Printable(at) + ", and no commit has had a log there", Remedy: "name a log that was there: `git log --oneline -- " + wording.TopPath(at) + "` lists its commits"}
		}
		return errors.Join(findErr, err)
	})
	return out, err
}

// maxBlock bounds a block on standard input, in bytes.
const maxBlock = 16 << 20

// AppendEntry appends an entry to a log of the configuration: line or, if that is nil, the block on input. It stages nothing.
func AppendEntry(ctx context.Context, req session.Request, locking Locking, name string, line *string, input io.Reader) (out Appended, err error) {
	stanza, at, err := findConfiguredLog(ctx, req, name)
	if err == nil && stanza == nil {
		err = &failure.Error{
			Message: wording.Printable(name) + " is no log of the configuration in HEAD or the index",
			Remedy:  "name one, or commit a stanza for it in " + policy.File,
		}
	}
	var entry string
	switch {
	case err != nil:
	case line != nil:
		entry = *line
	case stanza.Entries != policy.BlockEntries:
		err = &failure.Error{
			Message: "--line is missing: only a block is read from standard input, and " + wording.Printable(at) + " is no log of blocks",
			Remedy:  "give the entry with --line, or append with an editor, under small-hook guard",
		}
	default:
		entry, err = readBlock(input)
	}
	if err != nil {
		return out, err
	}
	out.Log, out.StageCommand = at, "git add -- "+wording.TopPath(at)
	err = withLockedLog(ctx, req, "append", locking, at, func(s *session.Session, w *restore.Workspace) error {
		if conflict, err := w.FindConflict(ctx, s.Repo, req.Environ); err != nil {
			return err
		} else if conflict != nil {
			return conflict
		}
		if err := checkSchema(s, at, entry); err != nil {
			return err
		}
		if err := w.AppendEntry(entry); err != nil {
			return err
		}
		out.Done = true
		out.Hidden, err = findHiddenLog(ctx, s, at)
		return err
	})
	return out, out.ExplainError(err)
}

// checkSchema fails if an entry does not fit the schema of its log: a commit of it would be rejected.
func checkSchema(s *session.Session, at, entry string) error {
	stanza := s.Opts.Policy.LogFor(at)
	if stanza == nil {
		return nil
	}
	for _, record := range stanza.Form().Values([]byte(entry)) {
		problem, fix, err := logs.SchemaProblem(stanza, record, "entry", s.Opts.Limits())
		if err != nil {
			return err
		}
		if problem != "" {
			return &failure.Error{Message: "nothing was appended: the entry " + problem, Remedy: fix}
		}
	}
	return nil
}

func readBlock(input io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(input, maxBlock+1))
	if err == nil && len(data) > maxBlock {
		err = &failure.Error{Message: fmt.Sprintf("the block on standard input has more than %d bytes", maxBlock), Remedy: "append a shorter one"}
	}
	return string(data), err
}
