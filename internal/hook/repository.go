package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/failure"
)

// Repository says where git looks for hooks, as git itself answers it.
type Repository struct {
	Git         Git
	Top         string // where git runs hooks: the work tree's top, or the repository itself if it is bare
	CommonDir   string // what all linked worktrees share
	Bare        bool
	HooksDir    string  // where git takes hooks from
	OwnHooksDir string  // where git would take them from without core.hooksPath
	HooksPath   Setting // core.hooksPath
	// Kind are words for a report of a bug, such as "linked work tree" and "shallow". Only the doctor fills them in.
	Kind []string
}

// Setting is one value of git's configuration.
type Setting struct {
	Set    bool   // maybe to nothing
	Value  string // with ~ expanded
	Origin string // where git found it, for example "file:.git/config"
}

// redirected reports whether core.hooksPath sends git to another directory than its own.
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
		return strings.TrimSuffix(answer, "\n") // one alone: a path may end in others
	}
	repo.Bare = ask(dir, "--is-bare-repository") == "true"
	question := "--show-toplevel"
	if repo.Bare {
		question = "--absolute-git-dir"
	}
	repo.Top = filepath.FromSlash(ask(dir, question))
	// git answers both relative to its directory, and a relative core.hooksPath is relative to the top: so it is asked there.
	repo.CommonDir = within(repo.Top, ask(repo.Top, "--git-common-dir"))
	repo.HooksDir = within(repo.Top, ask(repo.Top, "--git-path", "hooks"))
	repo.OwnHooksDir = filepath.Join(repo.CommonDir, "hooks")
	if err != nil {
		return repo, locateError(dir, err)
	}
	repo.HooksPath, err = setting(ctx, git, repo.Top, "core.hooksPath")
	return repo, err
}

// locateError says what git's complaint means.
func locateError(dir string, err error) error {
	dir = show(dir)
	switch complaint := err.Error(); {
	case strings.Contains(complaint, "not a git repository (or any"):
		return &failure.Error{Message: dir + " is not in a git repository", Remedy: "Change to a repository, or name one with -C DIR. To make a new one: `git init`", Err: err}
	case strings.Contains(complaint, "must be run in a work tree"):
		return &failure.Error{Message: dir + " is inside a repository's own folder, not in its work tree", Remedy: "Change to the folder where the files are checked out.", Err: err}
	}
	return failed("git cannot use the repository at "+dir, "See what else git says: `git status`", err)
}

// setting reads one path-like value of git's configuration as it holds in dir.
func setting(ctx context.Context, git Git, dir, name string) (Setting, error) {
	out, set, err := git.config(ctx, dir, "-z", "--show-origin", "--type=path", "--get", name)
	if err != nil || !set {
		return Setting{}, err
	}
	origin, value, _ := strings.Cut(strings.TrimSuffix(out, "\x00"), "\x00")
	return Setting{Set: true, Value: value, Origin: origin}, nil
}

// within resolves a path that git printed while running in dir.
func within(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// sameDirectory reports whether both paths lead to one directory, whether or not it exists.
func sameDirectory(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// missing reports whether an error says that a file is not there. A parent that is a file rather than a folder counts.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
