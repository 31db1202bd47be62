package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// HookSurvey says what a repository's hooks would judge, and by which configuration and reader.
type HookSurvey struct {
	// Policy says where the configuration by which the next commit is judged is from.
	Policy string
	// Strict is true if that configuration or the caller turns strict mode on. Mode is the configuration's mode: enforce or observe.
	Strict bool
	Mode   string
	// Reader is the name and version of what reads the repository: go-git or git. ReaderReason says why it was chosen.
	Reader, ReaderReason string
	// Workspaces are the paths of the .small directories in the index, except those that the configuration excludes.
	Workspaces []string
	// Logs are the patterns of the logs that the configuration lists.
	Logs []string
	// Bare is true if the repository has no work tree, and WorkspaceOnDisk if the work tree's root has a .small directory.
	Bare, WorkspaceOnDisk bool
	// Notes are sentences for people, such as that the configuration excludes a workspace.
	Notes []string
}

// The notes about a server whose HEAD names a branch that does not exist: unbornDefault if no branch exists, goneDefault if others do.
const (
	unbornDefault = "HEAD names a branch that does not exist yet: whoever pushes it first sets the configuration for every branch; " + nameDefault
	goneDefault   = "HEAD names a branch that does not exist, and a push of it is rejected: whoever creates it would set the configuration for every branch; " + nameDefault
	nameDefault   = "if another branch is the default one: `git symbolic-ref HEAD refs/heads/NAME`"
)

// Survey finds out how the next commit would be judged.
func Survey(ctx context.Context, req session.Request) (out HookSurvey, err error) {
	_, err = req.InRepository(ctx, "doctor", func(s *session.Session) (err error) {
		out, err = survey(ctx, s)
		return err
	})
	return out, err
}

func survey(ctx context.Context, s *session.Session) (out HookSurvey, err error) {
	head, err := s.Repo.Head(ctx)
	if err == nil {
		err = s.Trust(ctx, head, "HEAD")
	}
	if err != nil {
		return out, err
	}
	version, err := s.Repo.Version(ctx)
	if err != nil {
		return out, err
	}
	out = HookSurvey{Policy: s.Opts.Policy.Source, Strict: s.Opts.Policy.Strict || s.Req.Strict, Mode: string(s.Opts.Policy.Mode), Reader: strings.TrimSpace(s.Repo.Reader() + " " + version), ReaderReason: s.ReaderReason}
	for _, l := range s.Opts.Policy.Logs {
		out.Logs = append(out.Logs, l.Path)
	}
	if out.Bare = s.Repo.Where().Bare; out.Bare {
		if head != "" {
			return out, nil
		}
		branch, err := githistory.HeadBranch(ctx, s.Repo)
		note := unbornDefault
		if branch.Missing() {
			note = goneDefault
		}
		out.Notes = append(out.Notes, note)
		return out, err
	}
	dirs, err := s.WorkspaceDirs(ctx)
	if err != nil {
		return out, err
	}
	info, statErr := os.Lstat(filepath.Join(s.Repo.Where().Top, small.Dir))
	out.WorkspaceOnDisk = statErr == nil && info.IsDir()
	for _, dir := range dirs {
		if s.Opts.Policy.Judges(dir) {
			out.Workspaces = append(out.Workspaces, small.InDir(dir, ""))
		} else {
			out.Notes = append(out.Notes, small.InDir(dir, "")+" is excluded by the configuration")
		}
	}
	notes, err := s.Notes(ctx)
	if err != nil {
		return out, err
	}
	unmatched, err := unmatchedLogs(ctx, s)
	if err != nil {
		return out, err
	}
	hidden, err := s.HiddenLogs(ctx)
	out.Notes = append(append(out.Notes, notes...), unmatched...)
	for _, h := range hidden {
		out.Notes = append(out.Notes, h.Note())
	}
	return out, err
}

// unmatchedLogs returns a note for each configured log whose pattern selects no file in the index: it guards nothing yet.
func unmatchedLogs(ctx context.Context, s *session.Session) (notes []string, err error) {
	if len(s.Opts.Policy.Logs) == 0 {
		return nil, nil
	}
	files, err := s.Repo.List(ctx, history.Index, history.Judged(s.Opts.Policy))
	if err != nil {
		return nil, err
	}
	matched := map[*policy.Log]bool{}
	for _, f := range files {
		matched[s.Opts.Policy.LogFor(f.Path)] = true
	}
	for i := range s.Opts.Policy.Logs {
		l := &s.Opts.Policy.Logs[i]
		if matched[l] {
			continue
		}
		note := "no file is guarded by the pattern " + wording.Quote(l.Path) + " yet"
		if info, err := os.Stat(filepath.Join(s.Repo.Where().Top, filepath.FromSlash(l.Path))); err == nil && info.IsDir() {
			note += ": it names a folder, not files (write " + wording.Quote(l.Path+"/**") + ")"
		}
		notes = append(notes, note)
	}
	return notes, nil
}
