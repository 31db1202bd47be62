package githistory

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
)

// Place says where a repository lies and of what kind it is.
type Place struct {
	// Top is the absolute path of the work tree's root, with symbolic links
	// resolved; empty if there is none (a bare repository).
	Top string
	// GitDir is the absolute path of the git directory, in a linked work tree
	// that work tree's own.
	GitDir string
	// CommonDir is the absolute path of the git directory that all work trees
	// share. It is GitDir unless this is a linked work tree.
	CommonDir string
	// Bare reports whether the repository has no work tree.
	Bare bool
	// Shallow reports whether the clone hides parents of some commits.
	Shallow bool
}

// WorkTree is the root of the work tree; that a bare repository has none is an
// error.
func (p Place) WorkTree() (string, error) {
	if p.Top == "" {
		return "", &failure.Error{Message: "a bare repository has no work tree", Remedy: "run this in a clone, and push the result"}
	}
	return p.Top, nil
}

// WorkingGit is the installed git at work in the work tree, with an environment
// such as the process's own. That there is no git or no work tree is an error.
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
	if dir || tree { // they may be relative to another directory; else hooks would see variables that git alone does not set
		env = append(env, "GIT_DIR="+p.GitDir, "GIT_WORK_TREE="+p.Top)
	}
	return gitcmd.Git{Dir: p.Top, Environ: env}, nil
}

// Where is the place itself, for those who know a repository by its methods.
func (p Place) Where() Place { return p }

// Physical is the absolute path of dir with symbolic links resolved, which is
// the path that git sees.
func Physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Within is a path, which git writes with slashes, as it is meant in base.
func Within(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Ceilings are the directories that git, when it walks up, does not enter.
func Ceilings(environ gitcmd.Environ) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(environ.Get("GIT_CEILING_DIRECTORIES")) {
		if dir, err := Physical(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// LooksLikeRepository reports whether git looks closer at a directory when it walks up.
func LooksLikeRepository(dir string) bool {
	return exists(filepath.Join(dir, ".git")) ||
		exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist)
}
