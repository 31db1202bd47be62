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
	githistory "github.com/small-gate/small-gate/internal/git/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Repository is what git says about a repository and its hooks.
type Repository struct {
	Git         Git
	Top         string // where git runs hooks: the work tree's top, or the repository itself if it is bare
	CommonDir   string // the git directory that all linked work trees share
	Bare        bool
	HooksDir    string  // where git takes hooks from
	OwnHooksDir string  // where git would take hooks from without core.hooksPath
	HooksPath   Setting // core.hooksPath
	// Kind has words for a bug report, such as "linked work tree" and "shallow". Only Doctor fills it in.
	Kind []string
}

// Setting is one setting of git's configuration; the zero value if it is not set.
type Setting struct {
	Set    bool   // true for an empty value too
	Value  string // with ~ expanded
	Origin string // where git found the setting, for example "file:.git/config"
}

// whySwitchedOff says why git finds no hook at all; "" if git may find some. People switch hooks off by setting core.hooksPath to an empty value, or to
// a path that is not a directory, such as /dev/null.
func (r Repository) whySwitchedOff() string {
	if r.HooksPath.Set && r.HooksPath.Value == "" {
		return "core.hooksPath is empty"
	}
	if info, err := os.Stat(r.HooksDir); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return "git takes hooks from " + wording.Printable(r.HooksDir) + ", which is not a directory"
	}
	return ""
}

// howToSwitchOn says how to remove the cause that whySwitchedOff names.
func (r Repository) howToSwitchOn() string {
	if !r.HooksPath.Set {
		return "Move it away, then run the command again."
	}
	file, found := strings.CutPrefix(r.HooksPath.Origin, "file:")
	if !found {
		return "Find out where core.hooksPath is set: `git config --show-origin --get core.hooksPath`"
	}
	return "Type: `git config --file " + shellPath(githistory.Within(r.Top, file)) + " --unset-all core.hooksPath`"
}

// redirected reports whether core.hooksPath names a directory other than OwnHooksDir.
func (r Repository) redirected() bool {
	return r.HooksPath.Set && !githistory.SameDirectory(r.HooksDir, r.OwnHooksDir)
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
		return repo, newError(wording.Printable(dir)+" is not a directory", "", err)
	}
	// revParse returns "" after the first error, which it leaves in err.
	revParse := func(in string, args ...string) (output string) {
		if err == nil {
			output, err = git.run(ctx, in, append([]string{"rev-parse"}, args...)...)
		}
		return strings.TrimSuffix(output, "\n") // only one: a path may end in newlines
	}
	repo.Bare = revParse(dir, "--is-bare-repository") == "true"
	topOption := "--show-toplevel"
	if repo.Bare {
		topOption = "--absolute-git-dir"
	}
	repo.Top = filepath.FromSlash(revParse(dir, topOption))
	// Git prints the next two paths relative to the directory in which it runs; a relative core.hooksPath is relative to the top.
	repo.CommonDir = githistory.Within(repo.Top, revParse(repo.Top, "--git-common-dir"))
	repo.HooksDir = githistory.Within(repo.Top, revParse(repo.Top, "--git-path", "hooks"))
	repo.OwnHooksDir = filepath.Join(repo.CommonDir, "hooks")
	if err != nil {
		return repo, locateError(dir, err)
	}
	out, set, err := git.config(ctx, repo.Top, "-z", "--show-origin", "--type=path", "--get", "core.hooksPath")
	repo.HooksPath.Set = set
	repo.HooksPath.Origin, repo.HooksPath.Value, _ = strings.Cut(strings.TrimSuffix(out, "\x00"), "\x00")
	return repo, err
}

// locateError returns the error for err, with which git failed in dir. It puts git's usual messages into plain words.
func locateError(dir string, err error) error {
	named := wording.Printable(dir)
	var git *gitcmd.Error
	switch message := err.Error(); {
	case strings.Contains(message, "not a git repository (or any"):
		return &failure.Error{Message: named + " is not in a git repository", Remedy: "Change to a repository, or name one with -C DIR. To make a new one: `git init`", Err: err}
	case strings.Contains(message, "must be run in a work tree"):
		return &failure.Error{Message: named + " is inside a repository's git directory, not in its work tree", Remedy: "Change to the folder where the files are checked out.", Err: err}
	case errors.As(err, &git) && strings.Contains(git.Stderr, "detected dubious ownership"):
		_, rest, _ := strings.Cut(git.Stderr, "in repository at '")
		if quoted, _, closed := strings.Cut(rest, "'\n"); closed {
			dir = quoted
		}
		return &failure.Error{
			Message: "the repository at " + wording.Printable(dir) + " belongs to another user, so git runs none of its hooks and changes nothing in it",
			Remedy:  "If you trust its owner: `git config --global --add safe.directory " + wording.ShellWord(dir) + "`, then type the command again.",
			Err:     err,
		}
	}
	return newError("git cannot use the repository at "+named, "See what git says to `git status`.", err)
}

// doesNotExist reports whether err means that a file does not exist, even because its parent is not a folder.
func doesNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
