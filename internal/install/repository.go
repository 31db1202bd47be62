package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// Repository says where git looks for hooks, according to git itself.
type Repository struct {
	Git         Git
	Top         string // where git runs hooks: the work tree's top, or the repository itself if it is bare
	CommonDir   string // shared by all linked worktrees
	Bare        bool
	HooksDir    string  // where git takes hooks from
	OwnHooksDir string  // where it would take them from without core.hooksPath
	HooksPath   Setting // core.hooksPath
	// Kind are words for a bug report, such as "linked work tree" and "shallow". Only the doctor fills them in.
	Kind []string
}

// Setting is the value of one git setting.
type Setting struct {
	Set    bool   // possibly to nothing
	Value  string // with ~ expanded
	Origin string // where git found it, for example "file:.git/config"
}

// remove says how to remove core.hooksPath from where git found it, if it is that setting.
func (s Setting) remove() string {
	file, found := strings.CutPrefix(s.Origin, "file:")
	command := "git config --unset-all core.hooksPath"
	switch {
	case !found:
		return "Find out where that is set: `git config --show-origin --get core.hooksPath`"
	case filepath.IsAbs(file):
		command = "git config --file " + typed(file) + " --unset-all core.hooksPath"
	case filepath.Base(file) == "config.worktree":
		command = "git config --worktree --unset-all core.hooksPath"
	}
	return "Type: `" + command + "`"
}

// switchedOff reports whether core.hooksPath is not a directory: people switch hooks off like that.
func (r Repository) switchedOff() bool {
	info, err := os.Stat(r.HooksDir)
	return err == nil && !info.IsDir()
}

// redirected reports whether core.hooksPath names a directory other than git's own.
func (r Repository) redirected() bool {
	return r.HooksPath.Set && !sameDirectory(r.HooksDir, r.OwnHooksDir)
}

// Locate asks git about the repository around dir ("" is the current directory).
func Locate(ctx context.Context, dir string) (Repository, error) {
	git, err := findGit(ctx)
	if err != nil {
		return Repository{}, err
	}
	repo := Repository{Git: git}
	if dir == "" {
		dir = "."
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return repo, failed(show(dir)+" is not a directory", "", err)
	}
	ask := func(in string, what ...string) (answer string) {
		if err == nil {
			answer, err = git.run(ctx, in, append([]string{"rev-parse"}, what...)...)
		}
		return strings.TrimSuffix(answer, "\n") // only one: a path may end in newlines
	}
	repo.Bare = ask(dir, "--is-bare-repository") == "true"
	question := "--show-toplevel"
	if repo.Bare {
		question = "--absolute-git-dir"
	}
	repo.Top = filepath.FromSlash(ask(dir, question))
	// Git prints both relative to the directory in which it runs, and a relative core.hooksPath is relative to the top: so ask there.
	repo.CommonDir = within(repo.Top, ask(repo.Top, "--git-common-dir"))
	repo.HooksDir = within(repo.Top, ask(repo.Top, "--git-path", "hooks"))
	repo.OwnHooksDir = filepath.Join(repo.CommonDir, "hooks")
	if err != nil {
		return repo, locateError(dir, err)
	}
	out, set, err := git.config(ctx, repo.Top, "-z", "--show-origin", "--type=path", "--get", "core.hooksPath")
	repo.HooksPath.Set = set
	repo.HooksPath.Origin, repo.HooksPath.Value, _ = strings.Cut(strings.TrimSuffix(out, "\x00"), "\x00")
	return repo, err
}

// locateError explains git's message.
func locateError(dir string, err error) error {
	dir = show(dir)
	switch complaint := err.Error(); {
	case strings.Contains(complaint, "not a git repository (or any"):
		return &failure.Error{Message: dir + " is not in a git repository", Remedy: "Change to a repository, or name one with -C DIR. To make a new one: `git init`", Err: err}
	case strings.Contains(complaint, "must be run in a work tree"):
		return &failure.Error{Message: dir + " is inside a repository's own folder, not in its work tree", Remedy: "Change to the folder where the files are checked out.", Err: err}
	case strings.Contains(complaint, "detected dubious ownership"):
		_, at, _ := strings.Cut(complaint, "in repository at '")
		if at, _, quoted := strings.Cut(at, "'"); quoted {
			dir = at
		}
		return &failure.Error{
			Message: "the repository at " + dir + " belongs to another user, and git runs no hooks of it and changes nothing in it",
			Remedy:  "if you trust its owner: `git config --global --add safe.directory " + wording.ShellWord(dir) + "`, then type the command again",
			Err:     err,
		}
	}
	return failed("git cannot use the repository at "+dir, "See what else git says: `git status`", err)
}

// within resolves a path printed by git running in dir.
func within(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// sameDirectory reports whether both paths lead to one directory, existing or not.
func sameDirectory(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// missing reports whether an error means that a file does not exist. A parent that is a file rather than a folder counts.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
