package edit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Restore puts back entries that a workspace's log has lost since the last commit, keeps or discards new ones, and stages the log: see
// restore.Workspace.RestoreFrom. at is the path of the log or its workspace, which may be missing on disk, or of a log of the configuration. If
// at is empty, Restore takes the workspace in the request's directory or the nearest above it; if there is none, or that one has lost nothing, and the
// request names no directory, the first workspace in HEAD that has. Restore needs git for staging.
func Restore(ctx context.Context, req session.Request, locking Locking, at, source string, discard bool) (out restore.Restored, err error) {
	if at == "" {
		return restoreWorkspace(ctx, req, locking, at, source, discard)
	}
	req, at = fromExisting(req, at)
	stanza, path, err := findConfiguredLog(ctx, req, at)
	switch {
	case err != nil:
		return out, err
	case stanza != nil:
		return restoreLog(ctx, req, locking, stanza, path, source, discard)
	}
	return restoreWorkspace(ctx, req, locking, at, source, discard)
}

// ChangedFiles lists the files in and below a folder that are entries of logs and that differ, in the index or on disk, from those of the commit source
// (default HEAD and the commits being merged). Each path begins with ":/". isFolder is false if at is not a folder of such files, or has a workspace.
// With discard, ChangedFiles fails if at is such a folder.
func ChangedFiles(ctx context.Context, req session.Request, at, source string, discard bool) (files []string, isFolder bool, err error) {
	if at == "" {
		return nil, false, nil
	}
	req, at = fromExisting(req, at)
	_, err = withGit(req).InRepository(ctx, "restore", func(s *session.Session) error {
		if err := s.TrustHeadWithStagedStanzas(ctx); err != nil || len(s.Opts.Policy.Logs) == 0 {
			return err
		}
		folder, err := pathFromTop(s, req.Dir, at)
		if err != nil || folder == "" || s.Opts.Policy.LogFor(folder) != nil {
			return err
		}
		if found, err := onDiskOrCommitted(ctx, s, source)(folder); err != nil || found {
			return err
		}
		git, err := workgit.Open(s.Repo.Where(), req.Environ)
		if err != nil {
			return err
		}
		commits, err := restore.SourceCommits(ctx, s.Repo, source)
		known := map[string]bool{} // a file is restored from the first commit that has it
		for _, id := range commits {
			there, err := restore.FilesInFolder(ctx, s.Repo, id, s.Opts.Policy, folder)
			if err != nil {
				return err
			}
			changed := ""
			for _, args := range [][]string{{id, "--", folder}, {"--cached", id, "--", folder}} { // on disk, in the index
				differ, err := git.Run(ctx, slices.Concat([]string{"diff", "--name-only", "--no-renames", "--no-ext-diff", "-z"}, args)...)
				if err != nil {
					return err
				}
				changed += "\x00" + string(differ)
			}
			for _, file := range there {
				if !known[file] && strings.Contains(changed, "\x00"+file+"\x00") {
					files = append(files, ":/"+file)
				}
				known[file] = true
			}
		}
		if isFolder = len(known) > 0; isFolder && discard {
			err = refuseDiscard(folder)
		}
		return err
	})
	return files, isFolder, err
}

// refuseDiscard returns the failure to drop new files at a path: each is a log that no commit has.
func refuseDiscard(at string) error {
	return &failure.Error{Message: "restore --discard-new drops entries, and no file of a folder", Remedy: "list the new ones: `git status -- " + wording.TopPath(at) + "`; then remove those that you drop"}
}

// restoreWorkspace restores the log of the workspace that at names, as Restore does.
func restoreWorkspace(ctx context.Context, req session.Request, locking Locking, at, source string, discard bool) (out restore.Restored, err error) {
	restoreAt := func(at, source string) (restore.Restored, error) {
		return restoreOne(ctx, req, locking, at, source, discard)
	}
	out, err = restoreAt(at, source)
	unreadable, nowhere := errors.Is(err, restore.ErrUnreadable), errors.Is(err, errNoWorkspace)
	if err != nil && !unreadable && !nowhere || out.Done() || source != "" || discard {
		return out, err
	}
	if at == "" && req.Dir == "" && !unreadable {
		logs, err := listCommittedWorkspaces(ctx, req)
		if err != nil {
			return out, err
		}
		for _, log := range logs {
			if other, err := restoreAt(log, ""); err != nil || other.Done() {
				return other, err
			}
		}
	}
	if nowhere {
		return out, err
	}
	if err := refuseCommittedBreak(ctx, req, out.Log); err != nil {
		return out, err
	}
	sound, findErr := findLastSound(ctx, req, locking, at)
	if findErr != nil || sound == "" {
		return out, cmp.Or(findErr, err)
	}
	return restoreAt(at, sound)
}

// restoreOne restores the log, or the records, of one workspace.
func restoreOne(ctx context.Context, req session.Request, locking Locking, at, source string, discard bool) (out restore.Restored, err error) {
	err = withLockedWorkspace(ctx, req, locking, at, source, func(s *session.Session, held *lockedWorkspace) error {
		profile2, err := held.isProfile2(ctx, s, source)
		if err != nil {
			return err
		}
		if profile2 {
			out, err = held.restoreRecords(ctx, s, source, discard)
			return err
		}
		g, err := held.readStateIn(ctx, s)
		if err != nil {
			return err
		}
		if discard && source == "" && len(g.discarded) > 0 && g.continuesHead() {
			out.Log, out.Forgotten = g.Log(), g.discarded // only these are dropped; entries that were recorded since stay
			return g.ForgetDiscarded()
		}
		if out, err = g.RestoreFrom(ctx, s.Repo, source, g.WithDiscarded(g.discardedNote, g.notedLog), discard, req.Environ); err != nil {
			return err
		}
		if source == "" {
			if err := g.ForgetDiscarded(); err != nil {
				return err
			}
		}
		return g.WriteNote(g.mark)
	})
	return out, err
}

// restoreRecords restores the records of a workspace of 2.0.0, as Restore does.
func (l *lockedWorkspace) restoreRecords(ctx context.Context, s *session.Session, source string, discard bool) (restore.Restored, error) {
	if discard {
		return restore.Restored{}, records.UnsupportedCommand("small-hook restore --discard-new", "new records are separate files; list them: `git status -- :/`")
	}
	w := restore.Workspace{Place: s.Repo.Where(), Dir: l.dir, At: l.recordsPath(), Kept: l.Dir, Now: l.req.Now}
	return w.RestoreRecords(ctx, s.Repo, source, l.req.Environ)
}

// findLastSound finds the commit from which to restore a log that is missing or unreadable in HEAD; empty if there is none, or if git has
// something under way.
func findLastSound(ctx context.Context, req session.Request, locking Locking, at string) (commit string, err error) {
	err = withLockedWorkspace(ctx, req, locking, at, "", func(s *session.Session, held *lockedWorkspace) error {
		operation, err := state.Read(s.Repo.Where().GitDir)
		if err != nil || operation.Command != "" {
			return err
		}
		g, err := held.readStateIn(ctx, s)
		if err != nil {
			return err
		}
		profile2, err := held.isProfile2(ctx, s, "")
		if err != nil {
			return err
		}
		if profile2 {
			g.At = held.recordsPath()
		}
		there, err := state.Exists(filepath.Join(g.Place.Top, filepath.FromSlash(g.Key())))
		if err != nil || there && g.headLog == nil {
			return err // HEAD has no log, and a new one on disk replaces the old one
		}
		commit, err = g.FindLastSound(ctx, s.Repo, req.Environ)
		return err
	})
	return commit, err
}

// refuseCommittedBreak fails if a commit that nobody else has broke the log, since restoring from the last commit would not help. The failure says
// how to mend the log. While git has something under way, which must be finished first, refuseCommittedBreak returns nil.
func refuseCommittedBreak(ctx context.Context, req session.Request, log string) error {
	_, err := withGit(req).InRepository(ctx, "restore", func(s *session.Session) error {
		operation, err := state.Read(s.Repo.Where().GitDir)
		if err != nil || operation.Command != "" {
			return err
		}
		if err := s.UseFloor(); err != nil {
			return err
		}
		head, _, err := s.TrustHead(ctx, nil)
		if err != nil || head == "" {
			return err
		}
		tips, err := s.Repo.Tips(ctx, "refs/remotes/")
		if err != nil {
			return err
		}
		s.SetStandings(ctx, head)
		report := gate.NewCommits(ctx, s.Repo, "", head, tips, s.Opts)
		if report.Failure != nil {
			return report.Failure
		}
		for _, f := range report.Findings {
			if (f.Path == log || f.EditFrom != "" && strings.HasPrefix(f.Path, log+"/")) && f.Severity == finding.SeverityError {
				return &failure.Error{Message: "nothing was lost since the last commit. An earlier commit changed the log: " + wording.Printable(f.Message), Remedy: wording.Printable(f.Fix)}
			}
		}
		return nil
	})
	return err
}

// listCommittedWorkspaces lists the absolute paths of the .small folders that have a log, or a profile of 2.0.0, in HEAD.
func listCommittedWorkspaces(ctx context.Context, req session.Request) (logs []string, err error) {
	_, err = req.InRepository(ctx, "restore", func(s *session.Session) error {
		logs = nil
		head, err := s.Repo.Head(ctx)
		if err != nil || head == "" {
			return err
		}
		files, err := s.Repo.List(ctx, head, history.Workspaces())
		for _, f := range files {
			if _, name, in := small.SplitPath(f.Path); in && (name == small.Progress.FileName() || name == records.ProfileFile) {
				logs = append(logs, filepath.Join(s.Repo.Where().Top, filepath.FromSlash(path.Dir(f.Path))))
			}
		}
		return err
	})
	return logs, err
}

// withLockedWorkspace runs do under the lock of the workspace that at names. If at is empty, that is the nearest one on disk or in the commit source
// (default HEAD), else the nearest one in any commit.
func withLockedWorkspace(ctx context.Context, req session.Request, locking Locking, at, source string, do func(s *session.Session, held *lockedWorkspace) error) error {
	req = withGit(req)
	req.Dir = session.WorkspaceRoot(req.Dir)
	req, at = fromExisting(req, at)
	record := ""
	return withLock(ctx, req, locking, func(s *session.Session) (dir string, err error) {
		has := onDiskOrCommitted(ctx, s, source)
		if at == "" {
			dir, err := findNearest(s, has)
			if errors.Is(err, errNoWorkspace) {
				dir, err = findNearestInHistory(ctx, s)
			}
			if err == nil && source == "" && !hasWorkspaceOnDisk(s, dir) {
				err = refuseMoved(ctx, s, dir)
			}
			return dir, err
		}
		if record, err = pathOfRecord(s, at); err != nil {
			return "", err
		}
		if record != "" {
			dir, _, _ = small.SplitPath(record)
			return dir, nil
		}
		if dir, err = dirOfWorkspace(s, at); err != nil {
			return "", err
		}
		if there, err := has(dir); err != nil || there {
			return dir, err
		}
		return "", &failure.Error{Message: "there is no workspace in " + wording.Printable(at) + ", neither on disk nor in the commit", Remedy: "name a workspace or its log"}
	}, func(s *session.Session, held *lockedWorkspace) error {
		held.record = record
		return do(s, held)
	})
}

// fromExisting returns the request with the part of its directory that exists, and the path at, which is relative to the directory, from there.
func fromExisting(req session.Request, at string) (session.Request, string) {
	there, gone := session.SplitExisting(req.Dir)
	if _, fromTop := wording.CutTop(at); gone != "" && !fromTop && !filepath.IsAbs(at) {
		at = filepath.Join(gone, at)
	}
	req.Dir = there
	return req, at
}

// withLock runs do under the lock of the workspace that find finds.
func withLock(
	ctx context.Context, req session.Request, locking Locking, find func(*session.Session) (string, error), do func(s *session.Session, held *lockedWorkspace) error,
) (err error) {
	held, err := lockWorkspace(ctx, req, "restore", locking, find)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	_, err = held.req.InRepository(ctx, "restore", func(s *session.Session) error { return do(s, held) })
	return err
}

// findNearestInHistory finds the nearest directory that has a workspace in any commit, from the request's directory up to the root of the work
// tree.
func findNearestInHistory(ctx context.Context, s *session.Session) (string, error) {
	git, err := workgit.Open(s.Repo.Where(), s.Req.Environ)
	if err != nil {
		return "", err
	}
	dir, err := findNearest(s, func(dir string) (bool, error) {
		changed, err := git.Run(ctx, "rev-list", "-n", "1", "--all", "--", small.Progress.Path(dir), small.InDir(dir, records.ProfileFile))
		return len(changed) > 0, err
	})
	if !errors.Is(err, errNoWorkspace) {
		return dir, err
	}
	none := &failure.Error{
		Message: "there is nothing to restore: there is no .small/ directory here or above, and no commit has had one",
		Remedy:  "name the directory of a workspace; or a person begins one: small init --intent, followed by what the work is for", Err: err,
	}
	if s.TrustHeadWithStagedStanzas(ctx) == nil && len(s.Opts.Policy.Logs) > 0 {
		none.Message = "restore needs the path of a log, as in small-hook restore :/PATH: there is no .small/ directory here or above"
		none.Remedy = "`small-hook check --against HEAD` names the logs that have lost something, each with the command that restores it"
	}
	return dir, none
}

// dirOfWorkspace returns the directory of a workspace, which may be gone. name is the path of the directory, of its .small folder or of its log.
func dirOfWorkspace(s *session.Session, name string) (string, error) {
	at, fromTop := wording.CutTop(name)
	switch {
	case fromTop:
		at = filepath.Join(s.Repo.Where().Top, at)
	case !filepath.IsAbs(at):
		at = filepath.Join(s.Req.Dir, at)
	}
	if filepath.Base(at) == small.Progress.FileName() {
		at = filepath.Dir(at)
	}
	there, gone := session.SplitExisting(session.WorkspaceRoot(at))
	dir, err := s.PathOf(there)
	return path.Join(dir, filepath.ToSlash(gone)), err
}

// onDiskOrCommitted returns a function that reports whether a directory has a workspace on disk or in the commit source (default HEAD).
func onDiskOrCommitted(ctx context.Context, s *session.Session, source string) func(dir string) (bool, error) {
	return func(dir string) (bool, error) {
		if hasWorkspaceOnDisk(s, dir) {
			return true, nil
		}
		id, err := s.Repo.Head(ctx)
		if source != "" {
			id, err = s.ResolveCommit(ctx, source)
		}
		if err != nil || id == "" {
			return false, err
		}
		files, err := s.Repo.List(ctx, id, history.At(small.Progress.Path(dir), small.InDir(dir, records.ProfileFile)))
		return len(files) > 0, err
	}
}

// pathFromTop returns the path of a file or folder, from the root of the work tree; empty for that root. name is absolute, relative to dir or, as
// [wording.TopPath] writes it, to the root. The file may be gone. A symbolic link stands for itself.
func pathFromTop(s *session.Session, dir, name string) (string, error) {
	if at, fromTop := wording.CutTop(name); fromTop {
		return strings.TrimPrefix(path.Clean("/"+at), "/"), nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	folder, below := session.SplitExisting(full)
	stat := os.Lstat
	if below != "" { // a link above the file leads on
		stat = os.Stat
	}
	if info, err := stat(folder); err != nil || !info.IsDir() {
		folder, below = filepath.Dir(folder), filepath.Join(filepath.Base(folder), below)
	}
	in, err := s.PathOf(folder)
	return path.Join(in, filepath.ToSlash(below)), err
}
