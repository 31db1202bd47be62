package embedded

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/githistory"
)

// Files lists what lies below the .small directories of a commit or of the
// index, and .small itself where it is something else than a directory, and the
// same of its lookalikes, in order of path: all of them, or only those of the
// named workspace directories ("" or "." is the root). A path of the index with
// an unresolved conflict is listed once, marked, without mode and object. A path
// that a tree holds twice is an error.
func (r *Repo) Files(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	l := lister{ctx: ctx, repo: r, wanted: githistory.InSmall}
	var err error
	switch {
	case revision == gate.Index && len(dirs) == 0:
		err = l.staged(func(e indexEntry) error { return l.dir(e.path, e.id) })
	case revision == gate.Index:
		l.wanted = func(path string) bool { return githistory.InWorkspaces(path, dirs) }
		err = l.staged(func(e indexEntry) error { return l.sparse(e, dirs) })
	default:
		err = l.committed(revision, dirs)
	}
	if err != nil {
		return nil, err
	}
	files := l.sorted()
	return files, githistory.CheckNames(files)
}

// Paths lists every path of a commit or of the index, in order.
func (r *Repo) Paths(ctx context.Context, revision string) ([]string, error) {
	l := lister{ctx: ctx, repo: r, wanted: anyPath.wanted}
	var err error
	if revision == gate.Index {
		err = l.staged(func(e indexEntry) error { return l.dir(e.path, e.id) })
	} else {
		err = l.committed(revision, nil)
	}
	if err != nil {
		return nil, err
	}
	return githistory.PathsOf(l.sorted()), nil
}

// Watch has Changes report the files too whose paths match one of the patterns.
// Before the first call there are none.
func (r *Repo) Watch(patterns []string) { r.watch = githistory.NewWatch(patterns) }

// Glob lists the files of a commit or of the index whose paths match one of the
// patterns, in order of path.
func (r *Repo) Glob(ctx context.Context, revision string, patterns ...string) ([]gate.File, error) {
	w := githistory.NewWatch(patterns)
	l := lister{ctx: ctx, repo: r, wanted: w.Matches, below: w.Below}
	var err error
	if revision == gate.Index {
		err = l.staged(func(e indexEntry) error { return l.dir(e.path, e.id) })
	} else {
		err = l.globbed(revision, w)
	}
	if err != nil {
		return nil, err
	}
	files := l.sorted()
	return files, githistory.CheckNames(files)
}

// globbed lists what a commit holds of what a Watch matches: paths one by one
// where all are known, else whatever may hold some.
func (l *lister) globbed(revision string, w *githistory.Watch) error {
	root, err := l.repo.rootNamed(revision)
	if err != nil {
		return err
	}
	paths, literal := w.Literals()
	if !literal {
		return l.dir("", root)
	}
	for _, path := range paths {
		e, err := l.repo.entryAt(root, path)
		if err != nil {
			return err
		}
		if e != (treeEntry{}) && !e.isDir() {
			l.files = append(l.files, e.file(path))
		}
	}
	return nil
}

// ReadFile reads one regular file of a commit or of the index. found is false
// if the path is not there; something else than a regular file, a conflict, or
// more than limit bytes is an error.
func (r *Repo) ReadFile(ctx context.Context, revision, path string, limit int64) (data []byte, found bool, err error) {
	l := lister{ctx: ctx, repo: r, wanted: func(name string) bool { return atOrBelow(name, path) }}
	if revision == gate.Index {
		err = l.staged(func(e indexEntry) error {
			if rest, below := strings.CutPrefix(path, e.path+"/"); below {
				return l.at(e.id, path, rest)
			}
			return nil
		})
	} else {
		var root plumbing.Hash
		if root, err = r.rootNamed(revision); err == nil {
			err = l.at(root, path, path)
		}
	}
	if err != nil || len(l.files) == 0 {
		return nil, false, err
	}
	files := l.sorted()
	data, err = githistory.Content(ctx, r, files[0], path, limit)
	return data, err == nil, err
}

// Attributes lists the files of attributes of a commit or of the index that bear
// on the named workspace directories, in order of path.
func (r *Repo) Attributes(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	paths := gate.AttributePaths(dirs)
	l := lister{ctx: ctx, repo: r, wanted: func(name string) bool { return slices.Contains(paths, name) }}
	if revision == gate.Index {
		err := l.staged(func(e indexEntry) error {
			for _, path := range paths {
				if rest, below := strings.CutPrefix(path, e.path+"/"); below {
					if err := l.at(e.id, path, rest); err != nil {
						return err
					}
				}
			}
			return nil
		})
		return l.sorted(), err
	}
	root, err := r.rootNamed(revision)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := l.at(root, path, path); err != nil {
			return nil, err
		}
	}
	return l.sorted(), nil
}

// rootNamed is the tree of a commit that the caller named.
func (r *Repo) rootNamed(revision string) (plumbing.Hash, error) {
	id, err := parseID(revision)
	if err != nil {
		return id, err
	}
	c, err := r.named(id)
	if err != nil {
		return id, err
	}
	return c.tree, nil
}

// lister gathers the wanted files of a tree or of the index.
type lister struct {
	ctx    context.Context
	repo   *Repo
	wanted func(path string) bool
	// below says which directories may hold what is wanted; nil means all.
	below func(dir string) bool
	files []gate.File
}

// committed lists the files of a commit: all, or those of some workspaces.
func (l *lister) committed(revision string, dirs []string) error {
	root, err := l.repo.rootNamed(revision)
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return l.dir("", root)
	}
	for _, dir := range dirs {
		if err := l.workspace(root, "", path.Clean(dir)); err != nil {
			return err
		}
	}
	return nil
}

// workspace lists the .small, and its lookalikes, of a directory of a tree;
// prefix is the path of the tree.
func (l *lister) workspace(root plumbing.Hash, prefix, dir string) error {
	at, name := treeEntry{mode: modeDir, id: root}, prefix
	if dir != "." {
		var err error
		if at, err = l.repo.entryAt(root, dir); err != nil {
			return err
		}
		name = join(prefix, dir)
	}
	if !at.isDir() {
		return nil
	}
	return l.each(at.id, func(entry string, e treeEntry) error {
		if !githistory.InWorkspace(entry, "") {
			return nil
		}
		return l.entry(join(name, entry), e)
	})
}

// staged lists what is staged. A directory of which the index has only the tree
// is handed to expand.
func (l *lister) staged(expand func(indexEntry) error) error {
	x, err := l.repo.readIndex(l.ctx, func(path []byte) bool { return l.wanted(string(path)) })
	if err != nil {
		return err
	}
	for _, e := range x.sparse {
		if err := expand(e); err != nil {
			return err
		}
	}
	for _, e := range x.entries {
		l.files = append(l.files, e.staged())
	}
	return nil
}

// sparse lists what a directory of which the index has only the tree holds of
// some workspaces.
func (l *lister) sparse(e indexEntry, dirs []string) error {
	for _, dir := range dirs {
		dir = path.Clean(dir)
		rest, below := strings.CutPrefix(dir, e.path+"/")
		var err error
		switch {
		case githistory.InWorkspace(e.path, dir):
			err = l.dir(e.path, e.id)
		case dir == e.path:
			err = l.workspace(e.id, e.path, ".")
		case below:
			err = l.workspace(e.id, e.path, rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// at lists what a tree holds at a path, which is called name in the list.
func (l *lister) at(tree plumbing.Hash, name, path string) error {
	e, err := l.repo.entryAt(tree, path)
	if err != nil || e == (treeEntry{}) {
		return err
	}
	return l.entry(name, e)
}

func (l *lister) entry(path string, e treeEntry) error {
	if e.isDir() {
		if l.below != nil && !l.below(path) {
			return nil
		}
		return l.dir(path, e.id)
	}
	if l.wanted(path) {
		l.files = append(l.files, e.file(path))
	}
	return nil
}

// dir lists the wanted files of a directory at any depth.
func (l *lister) dir(path string, id plumbing.Hash) error {
	return l.each(id, func(name string, e treeEntry) error { return l.entry(join(path, name), e) })
}

// each goes through the entries of a tree.
func (l *lister) each(id plumbing.Hash, do func(name string, e treeEntry) error) error {
	if err := alive(l.ctx, "listing files"); err != nil {
		return err
	}
	t, err := l.repo.tree(id)
	if err != nil {
		return err
	}
	for t.next() {
		if err := do(string(t.name), t.entry); err != nil {
			return err
		}
	}
	if t.err != nil {
		return l.repo.unreadable(id, t.err)
	}
	return nil
}

// sorted is what was gathered, in order of path.
func (l *lister) sorted() []gate.File {
	slices.SortFunc(l.files, func(a, b gate.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(l.files)
}

// atOrBelow reports whether a name is that of a path, or of something below it.
func atOrBelow(name, path string) bool {
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || rest[0] == '/')
}
