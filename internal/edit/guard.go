package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/run"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/restore"
)

// Locking says how to wait for the lock of a workspace.
type Locking struct {
	// Command describes this process to those who wait.
	Command string
	// Wait is how long to wait at most.
	Wait time.Duration
}

// Guarded says what was wrong before and after a guarded command.
type Guarded struct {
	// Before was put back before the command, because a writer without a guard had changed or lost entries. After was put back after the
	// command.
	Before, After []restore.Restored
	// Log is the path of the log, from the root of the work tree.
	Log string
	// BehindHead are entries of the new HEAD that are missing or different in the log, if git has moved the work tree. They are not put back.
	BehindHead []ledger.Entry
	// Conflict says that the log is in conflict, and how to resolve it; nil if there is no conflict.
	Conflict *failure.Error
	// Discarded are entries that were recorded and then removed with git, such as by git checkout. The log lacks them until somebody types
	// the command that restores them, or the one that forgets them.
	Discarded []ledger.Entry
}

// Warning says which entries were discarded, and how to restore or forget them; empty if none were. commands quotes commands, as [wording.Commands] does.
func (g Guarded) Warning(commands func(...string) string) string {
	if len(g.Discarded) == 0 {
		return ""
	}
	back := g.CommandsBeforeCommit()[0]
	were := "were"
	if len(g.Discarded) == 1 {
		were = "was"
	}
	return fmt.Sprintf("small-hook: warning: %s %s recorded, and then discarded with git: the log lacks %s\nfix: %s; if that was on purpose, %s forgets %s\n",
		ledger.DescribeAll(g.Discarded), were, pronoun(g.Discarded), commands(back), strings.Trim(commands(back+" --discard-new"), "`"), pronoun(g.Discarded))
}

// CommandsBeforeCommit returns the commands that are needed before the log can be committed: one that restores discarded entries, if any.
func (g Guarded) CommandsBeforeCommit() []string {
	if len(g.Discarded) == 0 {
		return nil
	}
	return []string{"small-hook restore" + remedy.InDirectory(g.Log)}
}

func pronoun(entries []ledger.Entry) string {
	if len(entries) == 1 {
		return "it"
	}
	return "them"
}

// Fine reports whether nothing was wrong. Discarded entries do not count.
func (g Guarded) Fine() bool {
	return len(g.Before)+len(g.After)+len(g.BehindHead) == 0 && g.Conflict == nil
}

// guardedWorkspace is a workspace under a guard, and the state in which it was found.
type guardedWorkspace struct {
	restore.Workspace
	mark restore.Mark
	// headLog is the log of HEAD, with entries that HEAD lost if the log on disk has them: see restore.Workspace.HeadOrMended. It is nil if
	// HEAD has no log.
	headLog []byte
	// recordedLog is the log that the log on disk must continue. notedLog is the log in the note; nil if the note does not count: see
	// restore.Workspace.RecordedLog.
	recordedLog, notedLog []byte
	// discardedNote is the note on discarded entries, and discarded are those that the log lacks: see restore.Workspace.UpdateDiscarded.
	discardedNote restore.Note
	discarded     []ledger.Entry
	// opts are for judging the log.
	opts run.Options
	// moved is true if the log is missing, and another one that no commit has begins with the recorded log.
	moved bool
	// conflict says that the log is in conflict, and how to resolve it; nil if there is no conflict.
	conflict *failure.Error
}

// Guard runs a command under the lock of the workspace in the request's directory or the nearest above it, and undoes the command's changes to
// old entries of the log. do runs the command in an environment. If do fails, Guard returns both its error and the result.
func Guard(ctx context.Context, req session.Request, locking Locking, do func(environ []string) error) (out Guarded, err error) {
	err = runGuarded(ctx, req, "guard", locking, findWorkspaceOrLogs(ctx), func(held *lockedWorkspace, g *guardedWorkspace, before []restore.Restored) (err error) {
		out.Before, out.Log, out.Discarded = before, g.Log(), g.discarded
		old, err := g.Read()
		if err != nil {
			return err
		}
		environ := held.Environ(req.Environ)
		if len(g.Policy.Logs) > 0 && g.Dir != "" {
			root, err := lockWorkspace(ctx, held.req, "guard", locking, findRoot)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, root.Release()) }()
			environ = root.Environ(environ)
		}
		logs, undone, err := held.prepareLogs(ctx, g)
		if err != nil {
			return err
		}
		out.Before = append(out.Before, undone...)
		commandErr := do(environ)
		ctx := context.WithoutCancel(ctx) // check the result even after Ctrl-C
		held.startNote = &restore.Note{Dir: g.Dir, Mark: g.mark, Log: old}
		now, err := held.readState(ctx)
		if err != nil {
			return errors.Join(commandErr, err)
		}
		out.Conflict = now.conflict
		if now.notedLog == nil {
			out.BehindHead, err = now.findBehindHead()
		} else {
			out.After, err = now.putBackRecorded()
		}
		undone, undoErr := logs.undoChanges(ctx, now)
		out.After = append(out.After, undone...)
		return errors.Join(commandErr, err, undoErr, now.WriteNote(now.mark))
	})
	return out, err
}

// runGuarded takes the lock of the workspace that find finds, puts back entries that a writer without a guard has changed or lost, and calls do
// with what it put back.
func runGuarded(
	ctx context.Context, req session.Request, mode string, locking Locking, find func(*session.Session) (string, error),
	do func(*lockedWorkspace, *guardedWorkspace, []restore.Restored) error,
) (err error) {
	held, err := lockWorkspace(ctx, req, mode, locking, find)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if err := refuseProfile2(filepath.Join(held.req.Dir, filepath.FromSlash(held.dir)), mode); err != nil {
		return err
	}
	g, err := held.readState(ctx)
	if err != nil {
		return err
	}
	before, err := g.putBackRecorded()
	if err != nil {
		return err
	}
	return do(held, g, before)
}

// findWorkspaceAbove returns a function that finds the directory of the workspace in the request's directory or the nearest above it, up to the
// root of the work tree.
func findWorkspaceAbove(ctx context.Context) func(s *session.Session) (string, error) {
	return func(s *session.Session) (string, error) {
		dir, err := findNearest(s, func(dir string) (bool, error) { return hasWorkspaceOnDisk(s, dir), nil })
		if !errors.Is(err, errNoWorkspace) {
			return dir, err
		}
		const another = "change into a workspace, or name its directory with --dir"
		f := *failure.Of(err)
		f.Remedy = another + "; or a person begins a new one with small init --intent, followed by what the work is for"
		gone, historyErr := findNearestInHistory(ctx, s)
		switch {
		case historyErr == nil:
			if err := refuseMoved(ctx, s, gone); err != nil {
				return "", err
			}
			f.Remedy = "put back the deleted one: `" + (&restore.Workspace{Dir: gone}).Command() + "`; or " + another
		case !errors.Is(historyErr, errNoWorkspace):
			return "", historyErr
		}
		return "", &f
	}
}

// findWorkspaceOrLogs is findWorkspaceAbove, but without a workspace it finds the root of the work tree if the configuration has logs.
func findWorkspaceOrLogs(ctx context.Context) func(s *session.Session) (string, error) {
	return func(s *session.Session) (string, error) {
		dir, err := findWorkspaceAbove(ctx)(s)
		if !errors.Is(err, errNoWorkspace) {
			return dir, err
		}
		if _, _, trustErr := s.TrustHead(ctx, nil); trustErr != nil || len(s.Opts.Policy.Logs) == 0 {
			return "", errors.Join(trustErr, err)
		}
		return "", nil
	}
}

// hasWorkspaceOnDisk reports whether a directory of the work tree has a workspace.
func hasWorkspaceOnDisk(s *session.Session, dir string) bool {
	info, err := os.Lstat(filepath.Join(s.Repo.Where().Top, dir, small.Dir))
	return err == nil && info.IsDir()
}

// errNoWorkspace is wrapped by the failure to find a workspace.
var errNoWorkspace = errors.New("there is no workspace")

// findNearest finds the nearest directory that has a workspace, from the request's directory up to the root of the work tree.
func findNearest(s *session.Session, has func(dir string) (bool, error)) (string, error) {
	dir, err := s.PathOf(s.Req.Dir)
	if err != nil {
		return "", err
	}
	for ; ; dir = path.Dir("/" + dir)[1:] {
		if found, err := has(dir); err != nil || found {
			return dir, err
		}
		if dir == "" {
			return "", &failure.Error{Message: "there is no .small/ directory here or above", Err: errNoWorkspace}
		}
	}
}

// lockedWorkspace is a workspace under its lock.
type lockedWorkspace struct {
	*lock.Held
	// req is the request, with the root of the work tree as its directory: a command may remove the directory in which it was started.
	req       session.Request
	mode, dir string
	// record is the path of a record, or of a folder of records, of 2.0.0, if the caller named one.
	record string
	// startNote notes the log as it was before the guarded command. After the command, readState uses it instead of the note on disk.
	startNote *restore.Note
	// releaseState releases the lock of the protocol's own program; nil if that lock was not taken, as under a guard, where that program may run.
	releaseState func() error
}

// Release releases both locks.
func (l *lockedWorkspace) Release() error {
	if l.releaseState == nil {
		return l.Held.Release()
	}
	return errors.Join(l.releaseState(), l.Held.Release())
}

// lockWorkspace takes the lock of the workspace that find finds.
func lockWorkspace(ctx context.Context, req session.Request, mode string, locking Locking, find func(s *session.Session) (dir string, err error)) (*lockedWorkspace, error) {
	out := &lockedWorkspace{req: req, mode: mode}
	var place githistory.Place
	_, err := req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		place = s.Repo.Where()
		if _, err := place.WorkTree(); err != nil {
			return err
		}
		out.dir, err = find(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.req.Dir = place.Top
	at := filepath.Join(place.Top, filepath.FromSlash(out.dir))
	out.Held, err = lock.Take(ctx, lock.Request{
		CommonDir: place.CommonDir, Workspace: at,
		Command: locking.Command, Wait: locking.Wait, Environ: req.Environ, Now: req.Now,
	})
	if _, there := os.Stat(filepath.Join(at, filepath.FromSlash(small.InDir("", "")))); err != nil || mode == "guard" || errors.Is(there, fs.ErrNotExist) {
		return out, err // without a workspace there is nothing that the protocol's own program writes
	}
	if out.releaseState, err = lock.TakeState(ctx, at, locking.Wait); err != nil {
		return nil, errors.Join(err, out.Held.Release())
	}
	return out, nil
}

// readState reads the state of the workspace, and whether its log is in conflict.
func (l *lockedWorkspace) readState(ctx context.Context) (g *guardedWorkspace, err error) {
	_, err = l.req.InRepository(ctx, l.mode, func(s *session.Session) (err error) {
		if g, err = l.readStateIn(ctx, s); err == nil {
			g.conflict, err = g.FindConflict(ctx, s.Repo, l.req.Environ)
		}
		return err
	})
	return g, err
}

// readStateIn reads the state of the workspace in a session, without looking for a conflict.
func (l *lockedWorkspace) readStateIn(ctx context.Context, s *session.Session) (*guardedWorkspace, error) {
	if err := s.UseFloor(); err != nil {
		return nil, err
	}
	head, parents, err := s.TrustHead(ctx, nil)
	if err != nil {
		return nil, err
	}
	g := &guardedWorkspace{opts: s.Opts}
	g.Workspace = restore.Workspace{
		Place: s.Repo.Where(), Dir: l.dir, Kept: l.Dir, Policy: s.Opts.Policy, Limits: s.Opts.Limits(), Now: l.req.Now,
	}
	if g.mark, err = restore.MarkOf(ctx, s.Repo, parents); err != nil {
		return nil, err
	}
	if head != "" {
		if g.headLog, _, err = githistory.ReadFile(ctx, s.Repo, head, g.Log(), g.Limits.FileSize()); err == nil {
			g.headLog, err = g.HeadOrMended(ctx, s.Repo, head, g.headLog)
		}
		if err != nil {
			return nil, err
		}
	}
	last := l.startNote
	if last == nil {
		noted, err := g.ReadNote()
		if err == nil {
			g.discardedNote, g.discarded, err = g.UpdateDiscarded(ctx, s.Repo, noted, g.mark, g.headLog)
		}
		if err == nil && len(g.discarded) > 0 {
			noted, err = g.ReadNote()
		}
		if err != nil {
			return nil, err
		}
		last = &noted
	}
	if g.recordedLog, g.notedLog, err = g.RecordedLog(ctx, s.Repo, *last, g.mark, g.headLog); err != nil || g.recordedLog == nil {
		return g, err
	}
	if file, err := g.Read(); err == nil && file == nil {
		if _, g.moved, err = findMoved(ctx, s, g.Dir, g.recordedLog, head, g.headLog != nil); err != nil {
			return g, err
		}
	}
	return g, g.FindElsewhere(ctx, s.Repo, head, g.recordedLog)
}

// continuesHead reports whether the step from HEAD's log to the log on disk is allowed.
func (g *guardedWorkspace) continuesHead() bool {
	file, err := g.Read()
	log, _ := ledger.ReadLog(file, g.Limits)
	head, _ := ledger.ReadLog(g.headLog, g.Limits)
	return err == nil && log != nil && (head == nil || g.Accepts(head.Ledger, log.Ledger))
}

func (g *guardedWorkspace) inConflict() bool { return g.conflict != nil }

// putBackRecorded puts back recorded entries that the log lacks, unless the recorded log cannot be read.
func (g *guardedWorkspace) putBackRecorded() ([]restore.Restored, error) {
	if g.inConflict() || g.moved {
		return nil, nil // the file has both sides' entries, and `reconcile` resolves the conflict; or all stand elsewhere
	}
	if sound, _ := ledger.ReadLog(g.recordedLog, g.Limits); sound == nil {
		return nil, nil
	}
	done, err := g.Restore(g.recordedLog, g.Accepts)
	if err != nil || done.Text == nil {
		return nil, err
	}
	return []restore.Restored{done}, nil
}

// findBehindHead returns the entries of HEAD that are missing or different in the log on disk.
func (g *guardedWorkspace) findBehindHead() ([]ledger.Entry, error) {
	head, _ := ledger.ReadLog(g.headLog, g.Limits)
	if g.inConflict() || head == nil || head.Len() == 0 {
		return nil, nil
	}
	file, err := g.Read()
	if err != nil {
		return nil, err
	}
	found, err := combine.Kind{}.PutBack(g.headLog, file, g.Accepts, nil, g.Now, g.Limits)
	switch {
	case err != nil:
		return nil, &failure.Error{Message: g.Log() + ": " + err.Error(), Err: err}
	case found.Text == nil:
		return nil, nil
	case len(found.Lost) == 0:
		return head.Entries[head.Len()-1:], nil // only the order differs
	}
	return found.Lost, nil
}
