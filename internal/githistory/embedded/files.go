package embedded

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
)

// Files lists files as [githistory.Repo.Files] does.
func (r *Repo) Files(ctx context.Context, revision string, dirs ...string) ([]history.File, error) {
	l := lister{ctx: ctx, repo: r, wanted: func(path string) bool { return githistory.InWorkspaces(path, dirs) }}
	files, err := l.list(revision, func(root plumbing.Hash) error {
		if len(dirs) == 0 {
			return l.dir("", root)
		}
		for _, dir := range dirs {
			if err := l.workspace(root, path.Clean(dir)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return files, githistory.CheckNames(files)
}

// Paths lists every path of a commit or of the index, in order.
func (r *Repo) Paths(ctx context.Context, revision string) ([]string, error) {
	l := lister{ctx: ctx, repo: r, wanted: anyPath}
	files, err := l.list(revision, func(root plumbing.Hash) error { return l.dir("", root) })
	return githistory.PathsOf(files), err
}

// Watch has Changes report the files too whose paths match one of the patterns.
func (r *Repo) Watch(patterns []string) { r.watch = githistory.NewWatch(patterns) }

// Glob lists the files whose paths match one of the patterns, in order of path.
func (r *Repo) Glob(ctx context.Context, revision string, patterns ...string) ([]history.File, error) {
	w := githistory.NewWatch(patterns)
	l := lister{ctx: ctx, repo: r, wanted: w.Matches, below: w.Below}
	files, err := l.list(revision, func(root plumbing.Hash) error {
		return l.dir("", root)
	})
	if err != nil {
		return nil, err
	}
	return files, githistory.CheckNames(files)
}

// ReadFile reads one regular file as [githistory.Repo.ReadFile] does.
func (r *Repo) ReadFile(ctx context.Context, revision, path string, limit int64) (data []byte, found bool, err error) {
	l := lister{ctx: ctx, repo: r, wanted: func(name string) bool { return atOrBelow(name, path) }}
	files, err := l.list(revision, func(root plumbing.Hash) error { return l.at(root, path) })
	if err != nil || len(files) == 0 {
		return nil, false, err
	}
	data, err = githistory.Content(ctx, r, files[0], path, limit)
	return data, err == nil, err
}

// Attributes lists files of attributes as [githistory.Repo.Attributes] does.
func (r *Repo) Attributes(ctx context.Context, revision string, dirs ...string) ([]history.File, error) {
	paths := history.AttributePaths(dirs)
	l := lister{ctx: ctx, repo: r, wanted: func(name string) bool { return slices.Contains(paths, name) }}
	return l.list(revision, func(root plumbing.Hash) error { return l.at(root, paths...) })
}

// lister gathers the wanted files of a tree or of the index.
type lister struct {
	ctx    context.Context
	repo   *Repo
	wanted func(path string) bool
	// below says which directories may hold what is wanted; nil means all.
	below func(dir string) bool
	files []history.File
}

// list gathers what is wanted of the index, or has walk do so with a commit's
// root directory. The files are in order of path.
func (l *lister) list(revision string, walk func(root plumbing.Hash) error) ([]history.File, error) {
	if revision == history.Index {
		x, err := l.repo.readIndex(l.ctx, l.wanted)
		if err != nil {
			return nil, err
		}
		for _, e := range x.entries {
			l.files = append(l.files, e.staged())
		}
	} else {
		c, err := l.repo.named(revision)
		if err != nil {
			return nil, err
		}
		if err := walk(c.tree); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(l.files), nil
}

// workspace lists the .small, and its lookalikes, of a directory.
func (l *lister) workspace(root plumbing.Hash, dir string) error {
	at, prefix := treeEntry{mode: modeDir, id: root}, ""
	if dir != "." {
		var err error
		if at, err = l.repo.entryAt(root, dir); err != nil || !at.isDir() {
			return err
		}
		prefix = dir
	}
	return l.each(at.id, func(e treeEntry) error {
		if !githistory.InWorkspace(e.name, "") {
			return nil
		}
		return l.entry(join(prefix, e.name), e)
	})
}

// at lists what a tree holds at some paths.
func (l *lister) at(root plumbing.Hash, paths ...string) error {
	for _, path := range paths {
		e, err := l.repo.entryAt(root, path)
		if err == nil && e.name != "" {
			err = l.entry(path, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	return l.each(id, func(e treeEntry) error { return l.entry(join(path, e.name), e) })
}

func (l *lister) each(id plumbing.Hash, do func(treeEntry) error) error {
	if err := alive(l.ctx, "listing files"); err != nil {
		return err
	}
	entries, err := l.repo.tree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// atOrBelow reports whether a name is that of a path, or of something below it.
func atOrBelow(name, path string) bool {
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || rest[0] == '/')
}
