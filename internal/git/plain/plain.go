package plain

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/run"
)

// unusual are the variables that make git read files outside a repository, or read differently.
var unusual = []string{
	"GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_REPLACE_REF_BASE", "GIT_REFERENCE_BACKEND", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
}

// locate finds the repository of the directory here as git does, and refuses it by name unless it is plain. here is physical.
func locate(here string, env gitcmd.Environ) (p githistory.Place, set config, err error) {
	top := githistory.Nearest(here, env)
	if _, named := env.Lookup("GIT_DIR"); named {
		top = here // as git does then
	}
	if top == "" {
		return p, set, githistory.Nowhere(here)
	}
	p = githistory.Place{Top: top, GitDir: filepath.Join(top, ".git"), CommonDir: filepath.Join(top, ".git")}
	info, err := os.Lstat(p.GitDir)
	switch {
	case err == nil && info.Mode().IsRegular():
		err = linkedTree(&p)
	case err == nil && !info.IsDir():
		err = unserved(".git is neither a directory nor a file")
	case errors.Is(err, fs.ErrNotExist):
		err = cmp.Or(plainVariables(p, env), unserved("it is a bare repository, or the current directory is a git directory"))
	}
	if err == nil {
		err = cmp.Or(plainVariables(p, env), plainFiles(p))
	}
	if err == nil {
		set, err = plainConfig(p)
	}
	if err == nil {
		err = plainHistory(p.CommonDir)
	}
	return p, set, cannot("cannot open the repository", err)
}

// linkedTree finds the git directories of a linked work tree, whose .git is a file (gitrepository-layout(5)).
func linkedTree(p *githistory.Place) (err error) {
	if p.GitDir, err = pathIn(p.GitDir, "gitdir: "); err != nil {
		return err
	}
	p.CommonDir, err = pathIn(filepath.Join(p.GitDir, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) || err == nil && p.GitDir == p.CommonDir {
		return unserved(".git leads to a git directory elsewhere, as in a submodule")
	}
	return err
}

// pathIn is the path in a file that consists of a word and the path, with links resolved.
func pathIn(name, word string) (string, error) {
	data, err := readSmall(name)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), word)
	if !ok || path == "" {
		return "", fmt.Errorf("%s does not name a directory", wording.Printable(name))
	}
	return filepath.EvalSymlinks(githistory.Within(filepath.Dir(name), path))
}

// plainVariables checks git's variables. In a linked work tree git passes GIT_DIR to hooks.
func plainVariables(p githistory.Place, env gitcmd.Environ) error {
	for _, name := range unusual {
		if _, set := env.Lookup(name); set {
			return unserved("%s is set", name)
		}
	}
	if text, set := env.Lookup("GIT_INDEX_FILE"); set && text == "" {
		return unserved("GIT_INDEX_FILE is empty")
	}
	named, set := env.Lookup("GIT_DIR")
	if !set {
		return nil
	}
	named = githistory.Within(p.Top, named)
	if real, err := filepath.EvalSymlinks(named); named != filepath.Join(p.Top, ".git") && (err != nil || real != p.GitDir) {
		return unserved("GIT_DIR does not name the .git of the current directory")
	}
	return nil
}

// plainFiles checks that the parts of a repository exist, in its own directories.
func plainFiles(p githistory.Place) error {
	packs := filepath.Join(p.CommonDir, "objects", "pack")
	for _, name := range []string{filepath.Join(p.GitDir, "HEAD"), filepath.Join(p.CommonDir, "objects"), packs, filepath.Join(p.CommonDir, "refs")} {
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if isHead := filepath.Base(name) == "HEAD"; isHead != info.Mode().IsRegular() || isHead == info.IsDir() {
			return unserved("%s is a link, or not what it is called", filepath.Base(name))
		}
	}
	files, err := os.ReadDir(packs)
	if slices.ContainsFunc(files, isUnusualPack) {
		err = unserved("a pack is a link, or has an unusual name")
	}
	return err
}

// isUnusualPack reports whether a file is part of a pack that go-git would not find.
func isUnusualPack(e fs.DirEntry) bool {
	name, isIndex := strings.CutSuffix(e.Name(), ".idx")
	name, isPack := strings.CutSuffix(name, ".pack")
	id, named := strings.CutPrefix(name, "pack-")
	return (isIndex || isPack) && (!named || !githistory.SHA1.Valid(id) || !e.Type().IsRegular())
}

// plainConfig checks the repository's configuration, and returns it.
func plainConfig(p githistory.Place) (config, error) {
	set := newConfig()
	if err := set.read(filepath.Join(p.CommonDir, "config")); err != nil {
		return set, cannot("cannot read the configuration", err)
	}
	if set.includes() {
		return set, unserved("its configuration includes other files")
	}
	for _, s := range set.Sections {
		extension := s.IsName("extensions")
		for _, o := range s.Options {
			if extension {
				return set, unserved("extensions.%s is %q", wording.Printable(strings.ToLower(o.Key)), o.Value)
			}
		}
		for _, sub := range s.Subsections {
			switch {
			case extension:
				return set, unserved("extensions.%s is set", wording.Printable(sub.Name))
			case s.IsName("remote") && (sub.HasOption("promisor") || sub.HasOption("partialCloneFilter")):
				return set, unserved("it is a partial clone")
			}
		}
	}
	core := set.options("core", "")
	if core.Has("worktree") {
		return set, unserved("core.worktree is set")
	}
	if text := core.Get("repositoryFormatVersion"); core.Has("repositoryFormatVersion") && text != "0" {
		return set, unserved("core.repositoryFormatVersion is %q", text)
	}
	// A linked work tree of a bare repository is not itself bare.
	if text := core.Get("bare"); core.Has("bare") && text != "false" && (text != "true" || p.GitDir == p.CommonDir) {
		return set, unserved("core.bare is %q", text)
	}
	return set, nil
}

// plainHistory checks that nothing hides, replaces or borrows objects.
func plainHistory(dir string) error {
	for _, c := range []struct{ name, why string }{
		{"shallow", "it is a shallow clone"},
		{"info/grafts", "it has grafts"},
		{"objects/info/alternates", "it borrows objects from another repository"},
		{"objects/info/http-alternates", "it borrows objects from another repository"},
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

// A small repository has at most this many packed objects, and an index of at most this many bytes, about 2,000 files. go-git reads the
// index of every pack, and the whole index of the work tree, before it answers anything: about 0.13 ms for 1,000 objects, and 2 ms for 1,000
// files. A hook that starts git instead takes 2 ms more, or 5 ms if it has a log to judge.
const (
	smallPacks = 30_000
	smallIndex = 192 << 10
)

// packBytes is roughly the size of a pack's index per object, in bytes: id, checksum and offset.
const packBytes = 28

// Small reports whether a hook takes about as long with this reader as starting git does; if not, why says what is large. It only decides
// which reader is chosen: files that it cannot see do not count.
func (r *Repo) Small() (why string, small bool) {
	packs, _ := filepath.Glob(filepath.Join(r.CommonDir, "objects", "pack", "*.idx")) //nolint:errcheck // see above
	var bytes int64
	for _, name := range packs {
		bytes += sizeOf(name)
	}
	if n := bytes / packBytes; n > smallPacks {
		return fmt.Sprintf("the repository has about %d packed objects, and git is faster from %d on", n, smallPacks), false
	}
	if n := sizeOf(r.indexFile()); n > smallIndex {
		return fmt.Sprintf("the index has %d bytes, and git is faster from %d on", n, smallIndex), false
	}
	return "", true
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// maxSmall bounds the size of a file that should be short, in bytes.
const maxSmall = 4 << 20

// readSmall reads a file with a path or a configuration.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && name != os.DevNull || info.Size() > maxSmall {
		return nil, fmt.Errorf("%s is not a regular file, or too large", wording.Printable(name))
	}
	return os.ReadFile(name)
}
