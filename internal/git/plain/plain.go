// Package plain reads plain repositories with go-git's storage and decoders. It starts git for one question only: see [Repo.InitBranch]. It answers the
// same questions as git/history, in the same words, or refuses to; one test suite checks both.
//
// A repository is plain if it is not bare, shallow, partial or otherwise unusual: plain.go has the conditions. This reader refuses all others, and what
// it does not support, with an error that says why and has ErrUnserved in its chain. A missing or damaged object is an error too: it never counts as an
// absent file.
//
// Only the parts of go-git for git's formats are used. Its porcelain refuses valid repositories, reads the wrong index in hooks, and takes
// missing objects for absent files. Its reader of refs returns the older packed id if a ref's file is empty.
//
// The repository's owner is not checked. git refuses another user's repository because its configuration and hooks could run programs; this
// reader runs no program that they name.
package plain

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/program"
	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// unusualVariables make git read files outside a repository, or read it differently.
var unusualVariables = []string{
	"GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_REPLACE_REF_BASE", "GIT_REFERENCE_BACKEND", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
}

// findPlain finds the repository that git finds if it is started in a directory, and refuses one that is not plain. The path dir must have its symbolic
// links resolved, as githistory.Physical does.
func findPlain(dir string, env program.Environ) (p githistory.Place, settings config, err error) {
	top := githistory.Nearest(dir, env)
	if _, isSet := env.Lookup("GIT_DIR"); isSet {
		top = dir // if GIT_DIR is set, git takes the current directory as the work tree's root
	}
	if top == "" {
		return p, settings, githistory.Nowhere(dir)
	}
	p, settings = githistory.Place{Top: top, GitDir: filepath.Join(top, ".git"), CommonDir: filepath.Join(top, ".git")}, config{}
	info, err := os.Lstat(p.GitDir)
	switch {
	case err == nil && info.Mode().IsRegular():
		err = findLinkedTree(&p)
	case err == nil && !info.IsDir():
		err = unserved(".git is neither a directory nor a file")
	case errors.Is(err, fs.ErrNotExist):
		err = cmp.Or(checkVariables(p, env), unserved("it is a bare repository, or the directory lies in a git directory"))
	}
	if err == nil {
		err = cmp.Or(checkVariables(p, env), checkFiles(p), checkConfig(p, settings), checkObjects(p.CommonDir))
	}
	return p, settings, asFailure("cannot open the repository", err)
}

// findLinkedTree finds the git directories of a linked work tree, whose .git is a file (gitrepository-layout(5)).
func findLinkedTree(p *githistory.Place) error {
	data, err := os.ReadFile(p.GitDir)
	dir, found := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if err != nil || !found {
		return cmp.Or(err, unserved("the file %s does not name a directory", wording.Printable(p.GitDir)))
	}
	if p.GitDir, err = filepath.EvalSymlinks(githistory.Within(p.Top, dir)); err != nil {
		return err
	}
	if up, err := os.ReadFile(filepath.Join(p.GitDir, "commondir")); err != nil || strings.TrimSpace(string(up)) != "../.." {
		return unserved(".git leads to a git directory elsewhere, as in a submodule")
	}
	p.CommonDir = filepath.Dir(filepath.Dir(p.GitDir))
	return nil
}

// checkVariables refuses variables that make git look elsewhere. When git runs a hook in a linked work tree, it sets GIT_DIR to the tree's git directory.
func checkVariables(p githistory.Place, env program.Environ) error {
	for _, name := range unusualVariables {
		if _, set := env.Lookup(name); set {
			return unserved("%s is set", name)
		}
	}
	if text, set := env.Lookup("GIT_INDEX_FILE"); set && text == "" {
		return unserved("GIT_INDEX_FILE is empty")
	}
	gitDir, set := env.Lookup("GIT_DIR")
	if !set {
		return nil
	}
	gitDir = githistory.Within(p.Top, gitDir)
	if real, err := filepath.EvalSymlinks(gitDir); gitDir != filepath.Join(p.Top, ".git") && (err != nil || real != p.GitDir) {
		return unserved("GIT_DIR does not name the .git of %s", wording.Printable(p.Top))
	}
	return nil
}

// checkFiles checks that the parts of a repository exist, and are not symbolic links.
func checkFiles(p githistory.Place) error {
	objects := filepath.Join(p.CommonDir, "objects")
	for _, name := range []string{filepath.Join(p.GitDir, "HEAD"), objects, filepath.Join(objects, "pack"), filepath.Join(p.CommonDir, "refs")} {
		info, err := os.Lstat(name)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = unserved("%s is a symbolic link", filepath.Base(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkConfig reads git's configuration of the repository into settings, and checks it.
func checkConfig(p githistory.Place, settings config) error {
	data, err := os.ReadFile(filepath.Join(p.CommonDir, "config"))
	if err = cmp.Or(err, settings.parse(string(data))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return asFailure("cannot read .git/config", err)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		remote := strings.HasPrefix(name, "remote.")
		switch {
		case strings.HasPrefix(name, "include."), strings.HasPrefix(name, "includeif."):
			return unserved("its .git/config includes other files")
		case strings.HasPrefix(name, "extensions."):
			return unserved("%s is %q", wording.Printable(name), settings[name])
		case remote && strings.HasSuffix(name, ".promisor"), remote && strings.HasSuffix(name, ".partialclonefilter"):
			return unserved("it is a partial clone")
		case name == "core.worktree", name == "core.sparsecheckout":
			// With core.sparseCheckout, git ignores the mark skip-worktree of a file that is on disk, but [Repo.Marks] would list it.
			return unserved("%s is set", name)
		}
	}
	if text, has := settings.last("core.repositoryformatversion"); has && text != "0" {
		return unserved("core.repositoryFormatVersion is %q", text)
	}
	// A linked work tree of a bare repository is not itself bare.
	if text, has := settings.last("core.bare"); has && text != "false" && (text != "true" || p.GitDir == p.CommonDir) {
		return unserved("core.bare is %q", text)
	}
	return nil
}

// checkObjects refuses a shallow clone, grafts, alternates and replace refs: with them, git finds other objects than this reader does.
func checkObjects(dir string) error {
	for _, c := range []struct{ name, why string }{
		{"shallow", "it is a shallow clone"},
		{"info/grafts", "it has grafts"},
		{"objects/info/alternates", "it borrows objects from another repository"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(c.name))); !errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(err, unserved("%s", c.why))
		}
	}
	names, err := (&refs{gitDir: dir, commonDir: dir}).list([]string{"refs/replace"})
	if len(names) > 0 {
		err = unserved("it has replace refs")
	}
	return err
}

// checkEntries checks the entries of the index.
func checkEntries(entries []*index.Entry) error {
	last := ""
	for _, e := range entries {
		fine := e.Mode.IsFile() && e.Mode != filemode.Deprecated || e.Mode == filemode.Submodule
		switch {
		case e.Stage != 0:
			return unserved("%s has an unresolved conflict", wording.Printable(e.Name))
		case !fine || e.Name <= last || path.Clean("/"+e.Name) != "/"+e.Name || strings.Contains(e.Name, "\x00"):
			return fmt.Errorf("its entry %q (mode %o) is out of order, or has a name or mode that git does not write", e.Name, uint32(e.Mode))
		}
		last = e.Name
	}
	return nil
}

// maxIndexKB limits a sum, in KB: the sizes of the packs' indexes, and four times the size of the work tree's index, since one KB of that takes four times as
// long to read. Up to this limit, a hook with go-git is about as fast as with git. go-git reads the indexes of all packs before it answers anything: 800 KB,
// about 30,000 objects, take 3.7 ms. The other reader starts git three times in a hook, which takes 2 ms in all; if there is a log to judge, eight times,
// which takes 5 ms.
const maxIndexKB = 800

// IsSmallEnough reports whether a hook is about as fast with this reader as with git; why is the reason if it is not. It only helps to choose a reader, so it
// ignores files that it cannot read.
func (r *Repo) IsSmallEnough() (why string, small bool) {
	packs, _ := filepath.Glob(filepath.Join(r.CommonDir, "objects", "pack", "*.idx")) //nolint:errcheck // the pattern is valid
	bytes := int64(0)
	for _, name := range append(packs, slices.Repeat([]string{r.indexFile()}, 4)...) { // the work tree's index counts four times
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	return fmt.Sprintf("the indexes of the packs and four times the work tree's index are %d KB; above %d KB git is faster", bytes>>10, maxIndexKB), bytes>>10 <= maxIndexKB
}

// ErrUnserved is in the chain of each error after which git may still have the answer: this reader does not support the repository or something in it,
// or it failed to read something.
var ErrUnserved = errors.New("not served by the go-git reader")

// useGit is the remedy for what this reader does not support.
const useGit = "read it with the installed git: `--reader git`"

// unserved makes the error for what this reader does not support.
func unserved(format string, args ...any) error {
	message := "the go-git reader does not support this: " + fmt.Sprintf(format, args...)
	return &failure.Error{Message: message, Remedy: useGit, Err: ErrUnserved}
}

// asFailure returns nil, a failure and a context's error unchanged. It makes any other error a failure with ErrUnserved, because git may succeed.
func asFailure(message string, err error) error {
	if failure.IsComplete(err) {
		return err
	}
	return &failure.Error{Message: message + ": " + wording.Printable(err.Error()), Remedy: useGit, Err: errors.Join(ErrUnserved, err)}
}
