package githistory

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// Place says where a repository is and of what kind.
type Place struct {
	// Top is the absolute path of the work tree's root; empty if there is none, as in a bare repository.
	Top string
	// GitDir is the absolute path of the git directory. A linked work tree has its own.
	GitDir string
	// CommonDir is the absolute path of the git directory that all work trees share. It differs from GitDir only in a linked work tree.
	CommonDir string
	// Bare is true if the repository has no work tree.
	Bare bool
	// Shallow is true for a shallow clone: it lacks the parents of some commits.
	Shallow bool
}

// WorkTree returns the root of the work tree. It fails if there is none.
func (p Place) WorkTree() (string, error) {
	if p.Top == "" && !p.Bare {
		return "", &failure.Error{Message: "this is a git directory, not a work tree", Remedy: "go to the work tree, and type the same command again"}
	}
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
	given := program.Environ(environ)
	_, dir := given.Lookup("GIT_DIR")
	_, tree := given.Lookup("GIT_WORK_TREE")
	env := gitcmd.Working(environ, "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
	if dir || tree { // The caller's values may be relative to another directory. If the caller set none, hooks must not see any.
		env = append(env, "GIT_DIR="+p.GitDir, "GIT_WORK_TREE="+p.Top)
	}
	return gitcmd.Git{Dir: p.Top, Environ: env}, nil
}

// Where returns the place itself, so that a type that embeds Place has the method that interfaces of repositories require.
func (p Place) Where() Place { return p }

// Physical returns the absolute path of dir with symbolic links resolved, as git sees it.
func Physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Within resolves a slash-separated path that git printed against the directory base.
func Within(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// IsWithin reports whether path is folder itself or lies in it; both are absolute.
func IsWithin(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// ceilings returns the directories that git does not examine when it walks up (GIT_CEILING_DIRECTORIES). As git does, it ignores relative paths,
// and does not resolve symbolic links in the paths after an empty one.
func ceilings(environ program.Environ) []string {
	var dirs []string
	resolve := true
	for _, dir := range filepath.SplitList(environ.Get("GIT_CEILING_DIRECTORIES")) {
		switch {
		case dir == "":
			resolve = false
		case !filepath.IsAbs(dir):
		case !resolve:
			dirs = append(dirs, filepath.Clean(dir))
		default:
			if dir, err := Physical(dir); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// looksLikeRepository reports whether git, when it walks up, would examine a directory as a possible repository.
func looksLikeRepository(dir string) bool {
	return MayExist(filepath.Join(dir, ".git")) ||
		MayExist(filepath.Join(dir, "HEAD")) && MayExist(filepath.Join(dir, "objects")) && MayExist(filepath.Join(dir, "refs"))
}

// MayExist reports whether something is at a path, or the system cannot tell.
func MayExist(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}
