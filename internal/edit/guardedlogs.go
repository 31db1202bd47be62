package edit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/git/directory"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

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
	// inTarget are the files that the branch into which HEAD will be merged has; nil if there is no such branch. base is a merge base of HEAD and it.
	inTarget map[string]history.File
	base     string
}

// prepareLogs reads the logs of the configuration before a guarded command; out is nil if the configuration has none. First it undoes what a writer
// without a guard did to committed entries, except drafts, unless git has something under way.
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
		branches, err := s.Opts.Branches(ctx)
		if err == nil && branches.Target.ID != "" {
			out.inTarget, err = history.ListByPath(ctx, s.Repo, branches.Target.ID, out.filter())
		}
		if head := history.FirstOf(g.mark.Parents); err == nil && out.inTarget != nil && head != "" {
			var bases []string
			bases, err = s.Repo.MergeBases(ctx, head, branches.Target.ID)
			out.base = history.FirstOf(bases)
		}
		if err != nil {
			return err
		}
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

// filter selects the logs of the configuration.
func (l *guardedLogs) filter() history.Filter {
	var patterns []string
	for _, stanza := range l.Policy.Logs {
		patterns = append(patterns, stanza.Path)
	}
	return history.Matching(patterns...)
}

// frozenText returns that of a log's text which must not change; nil if all may, since the log is a draft: see [combine.Kind.IsDraft].
func (l *guardedLogs) frozenText(ctx context.Context, s *session.Session, at string, text []byte) ([]byte, error) {
	kind := combine.KindOf(l.Policy, at)
	_, landed := l.inTarget[at]
	switch {
	case kind.OfFile() && kind.IsDraft(text, l.inTarget != nil && !landed):
		return nil, nil
	case kind.OfFile(), l.base == "", !l.Policy.LogFor(at).FrozenOnceMerged():
		return text, nil
	}
	l.At = at
	return l.CommittedText(ctx, s.Repo, l.base, l.req.Environ)
}

// undoUnguarded puts back entries of HEAD's logs that the work tree has changed or lost. It skips drafts, logs that were rotated, and missing logs: they
// may have moved, which the gate judges.
func (l *guardedLogs) undoUnguarded(ctx context.Context, s *session.Session) (done []restore.Restored, err error) {
	git, err := workgit.Open(l.Place, l.req.Environ)
	if err != nil {
		return nil, err
	}
	names, err := git.Run(ctx, "diff-index", "--name-only", "--no-ext-diff", "--diff-filter=M", "-z", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	var after map[string]logFile
	for at := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if at == "" || l.Policy.LogFor(at) == nil {
			continue
		}
		if after == nil {
			if after, err = l.readLogs(ctx, s); err == nil {
				err = l.beginWithHead(ctx, s)
			}
			if err != nil {
				return nil, err
			}
		}
		if moved, err := l.hasMoved(ctx, s, at, after); err != nil {
			return nil, err
		} else if moved {
			continue
		}
		l.At = at
		old, err := l.CommittedText(ctx, s.Repo, l.mark.Parents[0], l.req.Environ)
		if err == nil && old != nil {
			old, err = l.HeadOrMended(ctx, s.Repo, l.mark.Parents[0], old)
		}
		if err == nil && old != nil {
			old, err = l.frozenText(ctx, s, at, old)
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

// beginWithHead makes the logs in HEAD those that were before.
func (l *guardedLogs) beginWithHead(ctx context.Context, s *session.Session) error {
	committed, err := history.ListByPath(ctx, s.Repo, l.mark.Parents[0], l.filter())
	l.before = map[string]logFile{}
	for path, f := range committed {
		l.before[path] = logFile{File: f}
	}
	return err
}

// readLogs reads the logs of the configuration on disk. The keys are their paths.
func (l *guardedLogs) readLogs(ctx context.Context, s *session.Session) (map[string]logFile, error) {
	tree, err := directory.Open(l.Place.Top)
	if err != nil {
		return nil, err
	}
	files, err := tree.List(ctx, "", l.filter())
	if err != nil {
		return nil, err
	}
	committed := map[string]history.File{}
	head := history.FirstOf(l.mark.Parents)
	if head != "" {
		if committed, err = history.ListByPath(ctx, s.Repo, head, l.filter()); err != nil {
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

// undoChanges undoes a guarded command's changes to old entries, except drafts, unless git has changed the work tree other than by commits.
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
			if moved, err := l.hasMoved(ctx, s, at, after); err != nil {
				return err
			} else if moved {
				continue
			}
			if was.data, err = l.text(ctx, s, was); err != nil {
				return err
			}
			if was.data, err = l.frozenText(ctx, s, at, was.data); err != nil {
				return err
			}
			if was.data != nil {
				l.before[at] = was
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

// text returns the text of a file of a log.
func (l *guardedLogs) text(ctx context.Context, s *session.Session, f logFile) ([]byte, error) {
	if f.data != nil || f.Object == "" {
		return f.data, nil
	}
	blob, err := s.Repo.Blob(ctx, f.Object, l.Limits.FileSize())
	return blob.Data, err
}

// hasMoved reports whether a log that was before a guarded command is missing, or begins anew, and all of it is at another path. Files that are entries
// move only with all of their folder that have their stanza.
func (l *guardedLogs) hasMoved(ctx context.Context, s *session.Session, at string, after map[string]logFile) (bool, error) {
	stanza, isFile := l.Policy.LogFor(at), combine.KindOf(l.Policy, at).OfFile()
	now, there := after[at]
	if isFile {
		for other := range after {
			there = there || combine.KindOf(l.Policy, other).OfFile() && path.Dir(other) == path.Dir(at) && l.Policy.LogFor(other) == stanza
		}
	}
	for to, has := range after {
		had, old := l.before[to]
		if to == at || l.Policy.LogFor(to).Format() != stanza.Format() || old && has.Object == had.Object {
			continue
		}
		moved := !there && !old && has.Object == l.before[at].Object && (!isFile || path.Base(to) == path.Base(at))
		var err error
		if !moved && !isFile {
			moved, err = l.isRotation(ctx, s, stanza, [4]logFile{l.before[at], had, has, now})
		}
		if err != nil || moved {
			return moved, err
		}
	}
	return false, nil
}

// isRotation reports whether an archive gained all of a log, which began anew. The files are the log before, the archive before and after, and the log
// after.
func (l *guardedLogs) isRotation(ctx context.Context, s *session.Session, stanza *policy.Log, files [4]logFile) (bool, error) {
	var logs [4]*ledger.Ledger
	for i, f := range files {
		text, err := l.text(ctx, s, f)
		if err != nil {
			return false, err
		}
		logs[i] = combine.KindOf(l.Policy, files[0].Path).Entries(text, l.Limits)
	}
	r := ledger.FindRotation(logs[0], logs[1], logs[2], ledger.RotationOptions{Unordered: stanza.Unordered()})
	return r != nil && len(r.Rest) == 0 && read.BeginsAnew(logs[3], r.Gone), nil
}
