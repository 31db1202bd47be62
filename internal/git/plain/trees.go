package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
)

// treeEntry is an entry of a tree. The zero value means none.
type treeEntry struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
}

// sortKey is git's sorting key.
func (e treeEntry) sortKey() string {
	if e.mode == filemode.Dir {
		return e.name + "/"
	}
	return e.name
}

// file is the entry as the gate's File; the zero File for none and for a directory.
func (e treeEntry) file(path string) history.File {
	if e.mode == 0 || e.mode == filemode.Dir {
		return history.File{}
	}
	return history.File{Path: path, Mode: fmt.Sprintf("%06o", uint32(e.mode)), Object: e.id.String()}
}

// parseTree reads the entries of a tree object, each "<octal mode> <name> NUL <id>". Modes that git does not write are left to it.
func parseTree(data []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(data)/(idSize+12))
	for text := string(data); text != ""; {
		digits, rest, ok1 := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		mode, err := filemode.New(digits)
		if !ok1 || !ok2 || err != nil || mode.IsMalformed() || name == "" || len(rest) < idSize {
			return nil, errors.New("the tree is damaged, or has an unusual mode")
		}
		if mode == filemode.Deprecated { // as git once wrote it
			mode = filemode.Regular
		}
		e := treeEntry{name: name, mode: mode}
		text = rest[copy(e.id[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// emptyTree is the id of the tree without entries. It need not be stored.
var emptyTree = plumbing.NewHash(githistory.SHA1.EmptyTree)

// tree reads a tree. The zero id means an empty one.
func (r *Repo) tree(id plumbing.Hash) ([]treeEntry, error) {
	if id == plumbing.ZeroHash || id == emptyTree {
		return nil, nil
	}
	o, err := r.object(id, plumbing.TreeObject, maxObject)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, unreadable(id, err)
	}
	return entries, nil
}

// Diff compares trees as [githistory.Repo.Diff] does.
func (r *Repo) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	filter := githistory.NewFilter(f)
	results := make([][]history.Change, len(edges))
	for i, e := range edges {
		changes, err := r.compare(ctx, e, filter)
		if err != nil {
			return nil, err
		}
		results[i] = changes
	}
	return results, nil
}

// List lists files as [githistory.Repo.List] does.
func (r *Repo) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	changes, err := r.compare(ctx, history.Edge{Child: revision}, githistory.NewFilter(f))
	var files []history.File
	for _, c := range changes {
		files = append(files, c.New)
	}
	return files, err
}

func (r *Repo) compare(ctx context.Context, e history.Edge, filter *githistory.Filter) ([]history.Change, error) {
	d := diff{ctx: ctx, repo: r, filter: filter}
	before, err := emptyTree, error(nil)
	if e.Parent != "" {
		before, err = d.treeOf(e.Parent)
	}
	if err != nil {
		return nil, err
	}
	after, err := d.treeOf(e.Child)
	if err != nil {
		return nil, err
	}
	if err := d.dirs("", before, after); err != nil {
		return nil, err
	}
	slices.SortFunc(d.changes, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
	return d.changes, githistory.CheckNames(d.changes, func(c history.Change) string { return c.Path })
}

// diff collects the differences between two trees.
type diff struct {
	ctx     context.Context
	repo    *Repo
	filter  *githistory.Filter
	staged  map[plumbing.Hash][]treeEntry // the index's trees, if it takes part
	changes []history.Change
}

// treeOf is the tree of a commit or of the index.
func (d *diff) treeOf(revision string) (root plumbing.Hash, err error) {
	if revision == history.Index {
		index, err := d.repo.readIndex(d.ctx)
		if err != nil {
			return root, err
		}
		d.staged = index.trees
		return index.root, nil
	}
	c, err := d.repo.named(d.ctx, revision)
	if err != nil {
		return root, err
	}
	return c.tree, nil
}

// tree is a tree of the index or of a commit.
func (d *diff) tree(id plumbing.Hash) ([]treeEntry, error) {
	if entries, staged := d.staged[id]; staged {
		return entries, nil
	}
	return d.repo.tree(id)
}

// dirs compares two directories, whose path has a slash at its end; the zero id means none. It descends where they differ and may hold what is wanted. In a tree whose entries
// are out of order, some count as removed and added, so their paths occur twice.
func (d *diff) dirs(dir string, before, after plumbing.Hash) error {
	if before == after {
		return nil
	}
	if err := alive(d.ctx, "comparing commits"); err != nil {
		return err
	}
	a, err := d.tree(before)
	if err != nil {
		return err
	}
	b, err := d.tree(after)
	for len(a)+len(b) > 0 && err == nil {
		order := len(b) - len(a) // one list may be at its end
		if len(a) > 0 && len(b) > 0 {
			if a[0] == b[0] {
				a, b = a[1:], b[1:]
				continue
			}
			order = strings.Compare(a[0].sortKey(), b[0].sortKey())
		}
		var old, now treeEntry
		if order <= 0 {
			old, a = a[0], a[1:]
		}
		if order >= 0 {
			now, b = b[0], b[1:]
		}
		path := dir + cmp.Or(old.name, now.name)
		switch isDir := old.mode == filemode.Dir || now.mode == filemode.Dir; { // both are directories, or the other side is absent
		case isDir && d.filter.MayHold(path):
			err = d.dirs(path+"/", old.id, now.id)
		case !isDir && d.filter.Matches(path):
			d.changes = append(d.changes, history.Change{Path: path, Old: old.file(path), New: now.file(path)})
		}
	}
	return err
}
