package edit

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/directory"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/restore"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// RestoreCommand returns the command that restores the workspace that a commit has in the request's directory or the nearest above it; empty if no commit
// has one.
func RestoreCommand(ctx context.Context, req session.Request) (command string) {
	_, err := withGit(req).InRepository(ctx, "restore", func(s *session.Session) error {
		if _, err := s.Repo.Where().WorkTree(); err != nil {
			return err
		}
		dir, err := findNearestInHistory(ctx, s)
		command = (&restore.Workspace{Dir: dir}).Command()
		return err
	})
	if err != nil {
		return ""
	}
	return command
}

// refuseMoved fails if the workspace of a directory is elsewhere in the work tree: restoring it would make a second one with the same entries.
func refuseMoved(ctx context.Context, s *session.Session, dir string) error {
	top := s.Repo.Where().Top
	head, err := s.Repo.Head(ctx)
	if err != nil || head == "" || top == "" {
		return err
	}
	old, inHead, err := findLastLog(ctx, s, head, small.Progress.Path(dir))
	if err != nil || old == nil {
		return err
	}
	in, moved, err := findMoved(ctx, s, dir, old, head, inHead)
	if err != nil || !moved {
		return err
	}
	return &failure.Error{
		Message: fmt.Sprintf("the workspace has moved from %s to %s", wording.Printable(small.InDir(dir, "")), wording.Printable(small.InDir(in, ""))),
		Remedy:  "change into it, and type the command there: " + wording.Commands("cd "+wording.ShellWord(filepath.Join(top, filepath.FromSlash(in)))),
	}
}

// findMoved finds the other directory of the work tree whose workspace has a log that begins with old, the log that the workspace of dir had. inHead is
// true if the commit head has that one: then the other is none that has moved if head has it, too.
func findMoved(ctx context.Context, s *session.Session, dir string, old []byte, head string, inHead bool) (in string, moved bool, err error) {
	top := s.Repo.Where().Top
	tree, err := directory.Open(top)
	if err != nil {
		return "", false, err
	}
	files, err := tree.List(ctx, "", history.Workspaces())
	if err != nil {
		return "", false, err
	}
	for _, f := range files {
		in, name, _ := small.SplitPath(f.Path)
		if name != small.Progress.FileName() || in == dir || !f.Regular() {
			continue
		}
		if inHead {
			committed, err := s.Repo.List(ctx, head, history.At(f.Path))
			if err != nil {
				return "", false, err
			}
			if len(committed) > 0 {
				continue // it is another workspace, with the same beginning
			}
		}
		nested, err := tree.InNestedRepository(f.Path)
		if err != nil {
			return "", false, err
		}
		if nested {
			continue // another work tree has it too
		}
		text, readErr := workgit.ReadFile(top, f.Path)
		if readErr == nil && bytes.HasPrefix(withLineFeeds(text), withLineFeeds(old)) {
			return in, true, nil
		}
	}
	return "", false, nil
}

// findLastLog returns the log at a path in HEAD or, if HEAD has none, as it was before the commit that removed it; nil if it is not found.
func findLastLog(ctx context.Context, s *session.Session, head, path string) (text []byte, inHead bool, err error) {
	limit := small.Limits{MaxFileSize: s.Req.MaxFileSize}.FileSize()
	if text, inHead, err = githistory.ReadFile(ctx, s.Repo, head, path, limit); err != nil || inHead {
		return text, inHead, err
	}
	git, err := workgit.Open(s.Repo.Where(), s.Req.Environ)
	if err != nil {
		return nil, false, err
	}
	listed, err := git.Run(ctx, "rev-list", "-n", "1", "--parents", head, "--", path)
	if ids := strings.Fields(string(listed)); err == nil && len(ids) > 1 {
		text, _, err = githistory.ReadFile(ctx, s.Repo, ids[1], path, limit)
	}
	return text, false, err
}

// withLineFeeds removes the carriage returns that git may have put before line feeds.
func withLineFeeds(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}
