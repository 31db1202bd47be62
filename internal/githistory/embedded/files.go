package embedded

import (
	"context"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/githistory"
)

// List lists files as [githistory.Repo.List] does.
func (r *Repo) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	l := lister{ctx: ctx, repo: r, filter: githistory.NewFilter(f)}
	if revision == history.Index {
		x, err := r.readIndex(ctx, l.filter.Matches)
		if err != nil {
			return nil, err
		}
		for _, e := range x.entries {
			l.files = append(l.files, e.staged())
		}
	} else {
		c, err := r.named(revision)
		if err != nil {
			return nil, err
		}
		if err := l.dir("", c.tree); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	files := slices.Compact(l.files)
	return files, githistory.CheckNames(files)
}

// lister gathers files of a tree.
type lister struct {
	ctx    context.Context
	repo   *Repo
	filter *githistory.Filter
	files  []history.File
}

// dir gathers those of a directory at any depth.
func (l *lister) dir(path string, id plumbing.Hash) error {
	if err := alive(l.ctx, "listing files"); err != nil {
		return err
	}
	entries, err := l.repo.tree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := join(path, e.name); {
		case !e.isDir():
			if l.filter.Matches(name) {
				l.files = append(l.files, e.file(name))
			}
		case l.filter.MayHold(name):
			if err := l.dir(name, e.id); err != nil {
				return err
			}
		}
	}
	return nil
}
