package plain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

// treeEntry is an entry of a tree. The zero value means that there is none.
type treeEntry struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
}

// sortKey returns the text by which git sorts entries.
func (e treeEntry) sortKey() string {
	if e.mode == filemode.Dir {
		return e.name + "/"
	}
	return e.name
}

// file converts the entry to the gate's File. For the zero treeEntry and for a directory it returns the zero File.
func (e treeEntry) file(path string) history.File {
	if e.mode == 0 || e.mode == filemode.Dir {
		return history.File{}
	}
	return history.File{Path: path, Mode: fmt.Sprintf("%06o", uint32(e.mode)), Object: e.id.String()}
}

// parseTree reads the entries of a tree object, each "<octal mode> <name> NUL <id>". A mode that git does not write is an error; git may accept it.
func parseTree(data []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(data)/(idSize+12))
	for text := string(data); text != ""; {
		digits, rest, ok1 := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		mode, err := filemode.New(digits)
		if !ok1 || !ok2 || err != nil || mode.IsMalformed() || mode == filemode.Deprecated || name == "" || len(rest) < idSize {
			return nil, errors.New("the tree is damaged, or has an unusual mode")
		}
		e := treeEntry{name: name, mode: mode}
		text = rest[copy(e.id[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// emptyTree is the id of the tree without entries. It need not be stored.
var emptyTree = plumbing.NewHash(githistory.SHA1.EmptyTree)

// Diff compares trees as [githistory.Repo.Diff] does.
func (r *Repo) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	filter := githistory.NewFilter(f)
	results := make([][]history.Change, len(edges))
	for i, e := range edges {
		var err error
		if results[i], err = r.compare(ctx, e, filter); err != nil {
			return nil, err
		}
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
	before := emptyTree
	after, err := d.treeOf(e.Child)
	if err == nil && e.Parent != "" {
		before, err = d.treeOf(e.Parent)
	}
	if err == nil {
		err = d.dirs("", before, after)
	}
	if err != nil {
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
	inIndex map[plumbing.Hash][]treeEntry // the index's trees, if one side is the index
	changes []history.Change
}

// treeOf returns the id of the tree of a commit or of the index.
func (d *diff) treeOf(revision string) (root plumbing.Hash, err error) {
	if revision == history.Index {
		trees, err := d.repo.readIndex(d.ctx)
		if err != nil {
			return root, err
		}
		d.inIndex = trees.entries
		return trees.root, nil
	}
	c, err := d.repo.peeledCommit(d.ctx, revision)
	if err != nil {
		return root, err
	}
	return c.tree, nil
}

// tree reads a tree of the index or of a commit. The zero id means an empty one.
func (d *diff) tree(id plumbing.Hash) ([]treeEntry, error) {
	if entries, found := d.inIndex[id]; found || id == plumbing.ZeroHash || id == emptyTree {
		return entries, nil
	}
	o, err := d.repo.object(d.ctx, id.String(), plumbing.TreeObject, maxParsed)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, unreadable(id.String(), err)
	}
	return entries, nil
}

// dirs compares two trees of one directory. The parameter dir is the directory's path with a slash at its end, or "" for the root. A zero id means that
// this side has no such directory. dirs descends into directories that differ and may contain selected files. If a tree's entries are out of order, a path may occur twice, once as removed and once as added.
func (d *diff) dirs(dir string, before, after plumbing.Hash) error {
	if before == after {
		return nil
	}
	a, err := d.tree(before)
	if err != nil {
		return err
	}
	b, err := d.tree(after)
	for len(a)+len(b) > 0 && err == nil {
		order := len(b) - len(a) // negative if the next entry is only in a, positive if only in b; at first, for a list that is used up
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
		switch isDir := old.mode == filemode.Dir || now.mode == filemode.Dir; { // if both are there, both are directories or none is: their sort keys are equal
		case isDir && d.filter.MayContain(path):
			err = d.dirs(path+"/", old.id, now.id)
		case !isDir && d.filter.Matches(path):
			d.changes = append(d.changes, history.Change{Path: path, Old: old.file(path), New: now.file(path)})
		}
	}
	return err
}

// indexFile returns the path of the index: GIT_INDEX_FILE, which git sets in hooks, or the work tree's own. git resolves a relative path from the
// root of the work tree.
func (r *Repo) indexFile() string {
	if named := r.env.Get("GIT_INDEX_FILE"); named != "" {
		return githistory.Within(r.Top, named)
	}
	return filepath.Join(r.GitDir, "index")
}

// indexTrees are the trees that a commit of the index would have: the id of the root, and the entries of all trees, by the trees' ids.
type indexTrees struct {
	file    []byte // the content of the index
	root    plumbing.Hash
	entries map[plumbing.Hash][]treeEntry
}

// readIndex reads the index. It decodes it only if it has changed, because a hook asks for it ten times. A missing file has no entries.
func (r *Repo) readIndex(ctx context.Context) (*indexTrees, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(r.indexFile())
	if errors.Is(err, fs.ErrNotExist) {
		return makeTrees(nil), nil
	}
	if last := r.index.Load(); err == nil && last != nil && bytes.Equal(last.file, data) {
		return last, nil
	}
	var x format.Index
	if err == nil {
		err = format.NewDecoder(bytes.NewReader(data)).Decode(&x)
	}
	if err = cmp.Or(err, checkEntries(x.Entries)); err != nil {
		return nil, asFailure("cannot read the index", err)
	}
	out := makeTrees(x.Entries)
	out.file = data
	r.index.Store(out)
	return out, nil
}

// makeTrees makes the trees of an index. It leaves out intent-to-add paths, as git commit does.
func makeTrees(all []*format.Entry) *indexTrees {
	out := &indexTrees{entries: map[plumbing.Hash][]treeEntry{}}
	out.root = out.add(slices.DeleteFunc(all, func(e *format.Entry) bool { return e.IntentToAdd }), 0)
	return out
}

// add makes the trees of a directory and of its subdirectories, and returns the directory's id. The parameter files has
// the index's entries in the directory and its subdirectories. Their names begin with the directory's path and a slash, together dirLen bytes.
func (s *indexTrees) add(files []*format.Entry, dirLen int) plumbing.Hash {
	var entries []treeEntry
	var data []byte
	for len(files) > 0 {
		name, _, isDir := strings.Cut(files[0].Name[dirLen:], "/")
		e, n := treeEntry{name: name, mode: files[0].Mode, id: files[0].Hash}, 1
		if isDir {
			dir := files[0].Name[:dirLen+len(name)+1]
			for n < len(files) && strings.HasPrefix(files[n].Name, dir) {
				n++
			}
			e.mode, e.id = filemode.Dir, s.add(files[:n], len(dir))
		}
		files, entries = files[n:], append(entries, e)
		data = fmt.Appendf(data, "%o %s\x00%s", uint32(e.mode), e.name, e.id[:])
	}
	id := plumbing.ComputeHash(plumbing.TreeObject, data)
	s.entries[id] = entries
	return id
}

// ListIndex lists all files of the index. git/history keeps the list for later calls; this reader does not, because readIndex is fast enough.
func (r *Repo) ListIndex(ctx context.Context) ([]history.File, error) {
	return r.List(ctx, history.Index, history.Filter{All: true})
}

// Sparse returns those of the given paths that the index marks skip-worktree. git update-index sets that mark too, so there may be some although this
// reader refuses sparse checkouts.
func (r *Repo) Sparse(_ context.Context, paths []string) (sparse []string, err error) {
	marks, err := githistory.MarksIn(r.indexFile(), githistory.SHA1)
	wanted := make(map[string]bool, len(paths))
	for _, path := range paths {
		wanted[path] = true
	}
	for _, m := range marks {
		if m.SkipWorktree && wanted[m.Path] {
			sparse = append(sparse, m.Path)
		}
	}
	return sparse, asFailure("cannot read the index", err)
}

// Marks lists marks as [githistory.Repo.Marks] does. It reads the work tree's own index even if GIT_INDEX_FILE names another.
func (r *Repo) Marks(_ context.Context, f history.Filter) ([]githistory.Mark, error) {
	marks, err := githistory.MarksIn(filepath.Join(r.GitDir, "index"), githistory.SHA1)
	return githistory.OnDisk(r.Top, githistory.NewFilter(f), marks), asFailure("cannot read the index", err)
}
