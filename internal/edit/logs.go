package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/git/directory"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
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

// logFile is a file of a log of the configuration on disk. Its data is nil if HEAD has the same.
type logFile struct {
	history.File
	data []byte
	mode fs.FileMode
}

// guardedLogs holds the logs of the configuration as they were before a guarded command.
type guardedLogs struct {
	*lockedWorkspace
	restore.Workspace
	mark   restore.Mark
	before map[string]logFile
}

// prepareLogs reads the logs of the configuration before a guarded command; out is nil if the configuration has none. First it undoes what a writer
// without a guard did to committed entries, unless git has something under way.
func (l *lockedWorkspace) prepareLogs(ctx context.Context, g *guardedWorkspace) (out *guardedLogs, done []restore.Restored, err error) {
	if len(g.Policy.Logs) == 0 {
		return nil, nil, nil
	}
	out = &guardedLogs{lockedWorkspace: l, Workspace: g.Workspace, mark: g.mark}
	operation, err := state.Read(g.Place.GitDir)
	if err != nil {
		return nil, nil, err
	}
	_, err = withGit(l.req).InRepository(ctx, l.mode, func(s *session.Session) error {
		if operation.Command == "" && len(g.mark.Parents) == 1 {
			if done, err = out.undoUnguarded(ctx, s); err != nil {
				return err
			}
		}
		out.before, err = out.readLogs(ctx, s)
		return err
	})
	return out, done, err
}

// undoUnguarded puts back entries of HEAD's logs that the work tree has changed or lost. It skips missing logs: they may have moved, which the gate
// judges.
func (l *guardedLogs) undoUnguarded(ctx context.Context, s *session.Session) (done []restore.Restored, err error) {
	git, err := workgit.Open(l.Place, l.req.Environ)
	if err != nil {
		return nil, err
	}
	names, err := git.Run(ctx, "diff-index", "--name-only", "--no-ext-diff", "--diff-filter=M", "-z", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	for at := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		stanza := l.Policy.LogFor(at)
		if at == "" || stanza == nil {
			continue
		}
		l.At = at
		old, err := l.CommittedText(ctx, s.Repo, l.mark.Parents[0], l.req.Environ)
		if err == nil && old != nil {
			old, err = l.HeadOrMended(ctx, s.Repo, l.mark.Parents[0], old)
		}
		if err != nil {
			return nil, err
		}
		if old == nil {
			continue
		}
		one, err := l.Restore(old, l.Accepts)
		if err != nil {
			return nil, err
		}
		if one.Text != nil {
			done = append(done, one)
		}
	}
	return done, nil
}

// readLogs reads the logs of the configuration on disk. The keys are their paths.
func (l *guardedLogs) readLogs(ctx context.Context, s *session.Session) (map[string]logFile, error) {
	var patterns []string
	for _, stanza := range l.Policy.Logs {
		patterns = append(patterns, stanza.Path)
	}
	tree, err := directory.Open(l.Place.Top)
	if err != nil {
		return nil, err
	}
	files, err := tree.List(ctx, "", history.Matching(patterns...))
	if err != nil {
		return nil, err
	}
	committed := map[string]history.File{}
	head := history.FirstOf(l.mark.Parents)
	if head != "" {
		if committed, err = history.ListByPath(ctx, s.Repo, head, history.Matching(patterns...)); err != nil {
			return nil, err
		}
	}
	out := map[string]logFile{}
	for _, f := range files {
		if l.Policy.LogFor(f.Path) == nil || !f.Regular() && f.Mode != history.ModeLink {
			continue
		}
		blob, err := tree.Blob(ctx, f.Path, l.Limits.FileSize())
		info, statErr := os.Lstat(filepath.Join(l.Place.Top, filepath.FromSlash(f.Path)))
		if err = errors.Join(err, statErr); err != nil {
			return nil, err
		}
		if blob.Data == nil {
			continue // too large to be judged
		}
		one := logFile{File: f, data: blob.Data, mode: info.Mode()}
		if one.Object = history.BlobID(blob.Data, head); one.Object == committed[f.Path].Object {
			one.data = nil
		}
		out[f.Path] = one
	}
	return out, nil
}

// undoChanges undoes a guarded command's changes to old entries, unless git has changed the work tree other than by commits.
func (l *guardedLogs) undoChanges(ctx context.Context, now *guardedWorkspace) (done []restore.Restored, err error) {
	if l == nil {
		return nil, nil
	}
	if onlyCommitted, err := restore.OnlyCommitted(l.Place, l.mark, now.mark); err != nil || !onlyCommitted {
		return nil, err
	}
	_, err = withGit(l.req).InRepository(ctx, l.mode, func(s *session.Session) error {
		after, err := l.readLogs(ctx, s)
		if err != nil {
			return err
		}
		var paths []string
		var failed []error
		for at, was := range l.before {
			is, there := after[at]
			if there && is.Object == was.Object && is.mode.Type() == was.mode.Type() {
				continue
			}
			if was.data == nil {
				blob, err := s.Repo.Blob(ctx, was.Object, l.Limits.FileSize())
				if err != nil {
					return err
				}
				was.data = blob.Data
				l.before[at] = was
			}
			if there || !l.hasMoved(at, was, after) {
				paths = append(paths, at)
			}
		}
		slices.Sort(paths)
		for _, at := range paths {
			l.At = at
			one, err := l.RestoreFormer(l.before[at].data, l.before[at].mode)
			if err != nil {
				failed = append(failed, err)
			} else if one.Text != nil {
				done = append(done, one)
			}
		}
		if len(failed) == 0 {
			return nil
		}
		return &failure.Error{
			Message: wording.Listed(len(failed), func(i int) string { return failure.Of(failed[i]).Message }),
			Remedy:  failure.Of(failed[0]).Remedy, Err: errors.Join(failed...),
		}
	})
	return done, err
}

// hasMoved reports whether a missing log continues at a new path.
func (l *guardedLogs) hasMoved(at string, was logFile, after map[string]logFile) bool {
	stanza := l.Policy.LogFor(at)
	for to, is := range after {
		if _, old := l.before[to]; old || l.Policy.LogFor(to).Format() != stanza.Format() {
			continue
		}
		if stanza.Entries == policy.FileEntries {
			if is.Object == was.Object && path.Base(to) == path.Base(at) {
				return true
			}
		} else if is.Object == was.Object || bytes.HasPrefix(is.data, was.data) {
			return true
		}
	}
	return false
}
