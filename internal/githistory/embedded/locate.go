package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// site is where a repository was found, and what its configuration says.
type site struct {
	githistory.Place
	layout layout
	// base is the directory from which relative paths in git's variables count
	// once git has found the repository.
	base string
}

// locate finds the repository of the directory here as git does: from GIT_DIR,
// or else by walking up. here is physical.
func locate(here string, env environ) (site, error) {
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if text, set := env.lookup(name); set && text == "" {
			return site{}, notOpened(here, fmt.Errorf("%w: %s is set and empty", errNotGitDir, name))
		}
	}
	if dir, set := env.lookup("GIT_DIR"); set {
		return explicit(here, within(here, dir), env, true)
	}
	stop := ceilings(env)
	device, err := deviceOf(here)
	if err != nil {
		return site{}, cannot("cannot look into "+githistory.Printable(here), err)
	}
	seen := false
	for dir := here; ; {
		dotGit := filepath.Join(dir, ".git")
		gitDir, isLink, err := readLink(dotGit, env)
		switch {
		case err != nil:
			return site{}, notOpened(here, err)
		case isLink:
			return discovered(here, dir, gitDir, env)
		case isGitDir(dotGit, env):
			return discovered(here, dir, dotGit, env)
		case isGitDir(dir, env):
			return bare(here, dir, env)
		}
		seen = seen || exists(dotGit) || looksBare(dir)
		up := filepath.Dir(dir)
		if up == dir || slices.Contains(stop, up) {
			break
		}
		if there, err := deviceOf(up); err != nil || there != device && !env.on("GIT_DISCOVERY_ACROSS_FILESYSTEM") {
			break
		}
		dir = up
	}
	if seen {
		return site{}, notOpened(here, errNotGitDir)
	}
	return site{}, githistory.Nowhere(here)
}

func notOpened(here string, err error) *gate.Failure {
	return &gate.Failure{
		Message: fmt.Sprintf("%s: %v", githistory.CannotOpen(here), err),
		Remedy:  githistory.SeeWhatGitSays,
		Err:     err,
	}
}

// discovered is a repository whose .git was found in dir.
func discovered(here, dir, gitDir string, env environ) (site, error) {
	s, err := newSite(here, gitDir, env)
	if err != nil {
		return s, err
	}
	if _, set := env.lookup("GIT_WORK_TREE"); set || s.layout.workTree != "" {
		return explicit(here, gitDir, env, true)
	}
	if s.layout.bare != 1 {
		err = s.setTop(here, dir)
	}
	return s, err
}

// bare is a repository that was found as a directory of its own.
func bare(here, dir string, env environ) (site, error) {
	s, err := newSite(here, dir, env)
	if err != nil {
		return s, err
	}
	if _, set := env.lookup("GIT_WORK_TREE"); set || s.layout.workTree != "" {
		return explicit(here, dir, env, false)
	}
	return s, nil
}

// explicit is a repository whose git directory was named. implied says that
// the current directory is its work tree if nothing else is named.
func explicit(here, gitDir string, env environ, implied bool) (site, error) {
	named, isLink, err := readLink(gitDir, env)
	if err != nil {
		return site{}, notOpened(here, err)
	}
	if isLink {
		gitDir = named
	}
	if !isGitDir(gitDir, env) {
		return site{}, notOpened(here, fmt.Errorf("%w: %s", errNotGitDir, githistory.Printable(gitDir)))
	}
	s, err := newSite(here, gitDir, env)
	if err != nil {
		return s, err
	}
	workTree, set := env.lookup("GIT_WORK_TREE")
	switch {
	case set:
		err = s.setTop(here, within(here, workTree))
	case s.layout.bare == 1:
	case s.layout.workTree != "":
		err = s.setTop(here, within(s.GitDir, s.layout.workTree))
	case !implied || env.off("GIT_IMPLICIT_WORK_TREE"):
	default:
		err = s.setTop(here, here)
	}
	return s, err
}

// newSite resolves the git directory and reads its configuration. There is no
// work tree yet.
func newSite(here, gitDir string, env environ) (site, error) {
	common, linked, err := commonDir(gitDir, env)
	if err != nil {
		return site{}, notOpened(here, err)
	}
	s := site{base: here}
	if s.GitDir, err = filepath.EvalSymlinks(gitDir); err != nil {
		return s, notOpened(here, err)
	}
	if s.CommonDir, err = filepath.EvalSymlinks(common); err != nil {
		return s, notOpened(here, err)
	}
	s.layout, err = readLayout(s.GitDir, s.CommonDir, linked)
	// As in git, a repository without a work tree is a bare one unless its
	// configuration says that it is not.
	s.Bare = s.layout.bare != 0
	return s, err
}

// setTop gives the site a work tree.
func (s *site) setTop(here, dir string) (err error) {
	s.Bare = false
	if s.Top, err = filepath.EvalSymlinks(dir); err != nil {
		return notOpened(here, err)
	}
	if inside(s.Top, here) {
		s.base = s.Top // git goes there
	}
	return nil
}

// ceilings are the directories that git, when it walks up, does not enter.
func ceilings(env environ) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(env.get("GIT_CEILING_DIRECTORIES")) {
		if dir, err := physical(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func looksBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist)
}
