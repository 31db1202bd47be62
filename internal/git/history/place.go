package githistory

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Place says where a repository is and of what kind.
type Place struct {
	// Top is the absolute path of the work tree's root, with symbolic links
	// resolved; empty if there is none (a bare repository).
	Top string
	// GitDir is the absolute path of the git directory. A linked work tree has its own.
	GitDir string
	// CommonDir is the absolute path of the git directory that all work trees share. It differs from GitDir only in a linked work tree.
	CommonDir string
	// Bare is true if the repository has no work tree.
	Bare bool
	// Shallow is true if the clone hides the parents of some commits.
	Shallow bool
}

// WorkTree returns the root of the work tree; for a bare repository it fails.
func (p Place) WorkTree() (string, error) {
	if p.Top == "" {
		return "", &failure.Error{Message: "a bare repository has no work tree", Remedy: "run this in a clone, and push the result"}
	}
	return p.Top, nil
}

// WorkingGit returns the installed git, to be run in the work tree with the given environment. It fails without a git program or a work tree.
func (p Place) WorkingGit(environ []string) (gitcmd.Git, error) {
	if _, err := p.WorkTree(); err != nil {
		return gitcmd.Git{}, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return gitcmd.Git{}, gitcmd.NotFound(err)
	}
	given := gitcmd.Environ(environ)
	_, dir := given.Lookup("GIT_DIR")
	_, tree := given.Lookup("GIT_WORK_TREE")
	env := gitcmd.Working(environ, "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
	if dir || tree { // the caller's values may be relative to another directory. Without them, hooks must not get variables that git would not set
		env = append(env, "GIT_DIR="+p.GitDir, "GIT_WORK_TREE="+p.Top)
	}
	return gitcmd.Git{Dir: p.Top, Environ: env}, nil
}

// Where returns the place itself: interfaces of repositories ask for it.
func (p Place) Where() Place { return p }

// Physical returns the absolute path of dir with symbolic links resolved, as git sees it.
func Physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Within resolves a path that git printed, with slashes, against base.
func Within(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// ceilings returns the directories that git does not enter when it walks up.
func ceilings(environ gitcmd.Environ) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(environ.Get("GIT_CEILING_DIRECTORIES")) {
		if dir, err := Physical(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// looksLikeRepository reports whether git, when it walks up, would stop at a directory to see whether it is a repository.
func looksLikeRepository(dir string) bool {
	return exists(filepath.Join(dir, ".git")) ||
		exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist)
}
