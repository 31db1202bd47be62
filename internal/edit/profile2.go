package edit

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// profile2Remedies says for each command what to type instead in a workspace of 2.0.0.
var profile2Remedies = map[string]string{
	"append": recordEvent, "lane --switch": recordEvent,
	"guard": "type the command without small-hook guard: each command of the protocol's own program writes files of its own, under its own lock",
}

const recordEvent = "`small progress add --help` says how to record an event, and takes its own lock; `small checkpoint --help` ends a task"

// isProfile2 reports whether the caller named records, or the workspace is of 2.0.0: on disk, or in a commit that is restored from.
func (l *lockedWorkspace) isProfile2(ctx context.Context, s *session.Session, source string) (bool, error) {
	if l.record != "" {
		return true, nil
	}
	version, err := versionOnDisk(filepath.Join(s.Repo.Where().Top, filepath.FromSlash(l.dir)))
	if err != nil || version != "" && version != small.Version {
		return err == nil, err
	}
	commits, err := restore.SourceCommits(ctx, s.Repo, source)
	if err != nil {
		return false, err
	}
	for _, id := range commits {
		if is, err := read.NewSource(s.Repo, nil, read.Basis{}).Profile2At(ctx, id, l.dir); err != nil || is {
			return is, err
		}
	}
	git, err := workgit.Open(s.Repo.Where(), s.Req.Environ)
	if err != nil || len(commits) == 0 {
		return false, err
	}
	files, err := s.Repo.List(ctx, commits[0], history.At(small.Progress.Path(l.dir)))
	if err != nil || len(files) > 0 {
		return false, err
	}
	was, err := git.Run(ctx, "rev-list", "-n", "1", commits[0], "--", small.InDir(l.dir, records.ProfileFile))
	return len(was) > 0, err // the commit has nothing of the workspace, but an older one had its profile
}

// recordsPath returns the path to restore in a workspace of 2.0.0: that of the named records, or of the whole workspace.
func (l *lockedWorkspace) recordsPath() string { return cmp.Or(l.record, small.InDir(l.dir, "")) }

// pathOfRecord returns the path, from the root of the work tree, of a record or a folder of records that is named relative to the request's
// directory; empty if the name is not that of records.
func pathOfRecord(s *session.Session, name string) (string, error) {
	at, _ := wording.CutTop(name)
	abs, err := filepath.Abs(filepath.Join(s.Req.Dir, at))
	if err != nil {
		return "", err
	}
	if _, below, in := small.SplitPath(filepath.ToSlash(abs)); !in || !records.IsImmutable(below) {
		return "", nil
	}
	return pathFromTop(s, s.Req.Dir, name)
}

// versionOnDisk reads the version in the profile of the workspace in a directory; empty if there is no profile.
func versionOnDisk(dir string) (string, error) {
	text, err := wholefile.Start(filepath.Join(dir, small.Dir, records.ProfileFile), records.Profile.MaxSize(0))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, wholefile.ErrNotRegular) {
		return "", nil
	}
	return records.VersionOf(text), err
}

// refuseProfile2 fails if the workspace in a directory is of 2.0.0, which has no log to append to, or of a profile that the gate does not know.
func refuseProfile2(dir, mode string) error {
	version, err := versionOnDisk(dir)
	if err != nil {
		return err
	}
	is, err := records.IsProfile2(path.Join(small.Dir, records.ProfileFile), version)
	if is {
		err = records.UnsupportedCommand("small-hook "+mode, profile2Remedies[mode])
	}
	return err
}
