package embedded

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wording"
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
func locate(here string, env gitcmd.Environ) (site, error) {
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if text, set := env.Lookup(name); set && text == "" {
			return site{}, notOpened(here, fmt.Errorf("%w: %s is set and empty", errNotGitDir, name))
		}
	}
	for _, name := range []string{"GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE"} {
		if _, set := env.Lookup(name); set {
			return site{}, unserved("%s is set", name)
		}
	}
	if named, set := env.Lookup("GIT_DIR"); set {
		gitDir := githistory.Within(here, named)
		target, isLink, err := readLink(gitDir)
		if isLink {
			gitDir = target
		}
		if err == nil && !isGitDir(gitDir, env) {
			err = fmt.Errorf("%w: %s", errNotGitDir, wording.Printable(gitDir))
		}
		if err != nil {
			return site{}, notOpened(here, err)
		}
		return newSite(here, gitDir, here, env)
	}
	return discover(here, env)
}

// discover walks up.
func discover(here string, env gitcmd.Environ) (site, error) {
	stop := githistory.Ceilings(env)
	seen := false
	for dir := here; ; {
		dotGit := filepath.Join(dir, ".git")
		gitDir, isLink, err := readLink(dotGit)
		if isLink && err == nil && !isGitDir(gitDir, env) {
			err = fmt.Errorf("%w: %s", errNotGitDir, wording.Printable(gitDir))
		}
		switch {
		case err != nil:
			return site{}, notOpened(here, err)
		case isLink:
			return newSite(here, gitDir, dir, env)
		case isGitDir(dotGit, env):
			return newSite(here, dotGit, dir, env)
		case isGitDir(dir, env):
			return newSite(here, dir, "", env)
		}
		seen = seen || githistory.LooksLikeRepository(dir)
		up := filepath.Dir(dir)
		if up == dir || slices.Contains(stop, up) {
			break
		}
		dir = up
	}
	if seen {
		return site{}, notOpened(here, errNotGitDir)
	}
	return site{}, githistory.Nowhere(here)
}

func notOpened(here string, err error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%s: %v", githistory.CannotOpen(here), err),
		Remedy:  githistory.SeeWhatGitSays,
		Err:     err,
	}
}

// newSite is the repository of a git directory. implied is its work tree if
// nothing else is said, empty for none.
func newSite(here, gitDir, implied string, env gitcmd.Environ) (s site, err error) {
	common, linked, err := commonDir(gitDir)
	if err == nil {
		s.GitDir, err = filepath.EvalSymlinks(gitDir)
	}
	if err == nil {
		s.CommonDir, err = filepath.EvalSymlinks(common)
	}
	if err != nil {
		return s, notOpened(here, err)
	}
	if s.layout, err = readLayout(s.GitDir, s.CommonDir, linked); err != nil {
		return s, err
	}
	top, named := env.Lookup("GIT_WORK_TREE")
	switch {
	case named:
		top = githistory.Within(here, top)
	case s.layout.bare == 1:
	case s.layout.workTree != "":
		top = githistory.Within(s.GitDir, s.layout.workTree)
	default:
		top = implied
	}
	s.base = here
	if top == "" {
		// As in git, a repository without a work tree is a bare one unless its
		// configuration says that it is not.
		s.Bare = s.layout.bare != 0
		return s, nil
	}
	if s.Top, err = filepath.EvalSymlinks(top); err != nil {
		return s, notOpened(here, err)
	}
	if rel, err := filepath.Rel(s.Top, here); err == nil && filepath.IsLocal(rel) {
		s.base = s.Top // git goes there
	}
	return s, nil
}
