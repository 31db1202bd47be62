package githistory

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/git/run"
)

// Place says where a repository is and of what kind.
type Place struct {
	// Top is the absolute path of the work tree's root, with symbolic links
	// resolved; empty if there is none (a bare repository).
	Top string
	// GitDir is the absolute path of the git directory; in a linked work tree its own.
	GitDir string
	// CommonDir is the absolute path of the git directory shared by all work trees. It is GitDir unless this is a linked work tree.
	CommonDir string
	// Bare reports whether the repository has no work tree.
	Bare bool
	// Shallow reports whether the clone hides some commits' parents.
	Shallow bool
}

// WorkTree is the root of the work tree; for a bare repository it is an error.
func (p Place) WorkTree() (string, error) {
	if p.Top == "" {
		return "", &failure.Error{Message: "a bare repository has no work tree", Remedy: "run this in a clone, and push the result"}
	}
	return p.Top, nil
}

// WorkingGit is the installed git for work in the work tree, with the given environment, such as the process's own. A missing git or work
// tree is an error.
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
	if dir || tree { // they may be relative to another directory; otherwise hooks would get variables that git alone does not set
		env = append(env, "GIT_DIR="+p.GitDir, "GIT_WORK_TREE="+p.Top)
	}
	return gitcmd.Git{Dir: p.Top, Environ: env}, nil
}

// Where is the place itself, for interfaces of repositories.
func (p Place) Where() Place { return p }

// Physical is the absolute path of dir with symbolic links resolved, as git sees it.
func Physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Within resolves a path from git, with slashes, against base.
func Within(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// ceilings are the directories that git does not enter when it walks up.
func ceilings(environ gitcmd.Environ) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(environ.Get("GIT_CEILING_DIRECTORIES")) {
		if dir, err := Physical(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// looksLikeRepository reports whether git, walking up, examines a directory closer.
func looksLikeRepository(dir string) bool {
	return exists(filepath.Join(dir, ".git")) ||
		exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist)
}
