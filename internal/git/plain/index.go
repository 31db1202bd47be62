package plain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/history"
)

// indexFile is the index that git names, as it does in hooks, or the work tree's own. git resolves relative paths from the root of the work
// tree.
func (r *Repo) indexFile() string {
	if named := r.env.Get("GIT_INDEX_FILE"); named != "" {
		return githistory.Within(r.Top, named)
	}
	return filepath.Join(r.GitDir, "index")
}

// staged is the tree that a commit of the index would have: its id, and it and all its subtrees by their ids.
type staged struct {
	sum    plumbing.Hash // with which the index ends (gitformat-index(5)): the hash of what is before it
	root   plumbing.Hash
	trees  map[plumbing.Hash][]treeEntry
	sparse []string // the paths that are kept out of the work tree
}

// readIndex reads the index, unless it is the last one that was read: a hook asks for it ten times. A missing file has no entries.
func (r *Repo) readIndex(ctx context.Context) (*staged, error) {
	if err := alive(ctx, "reading the index"); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(r.indexFile())
	if errors.Is(err, fs.ErrNotExist) {
		return stage(nil), nil
	}
	var sum plumbing.Hash
	copy(sum[:], data[max(len(data)-idSize, 0):])
	if last := r.index.Load(); err == nil && last != nil && last.sum == sum {
		return last, nil
	}
	var x format.Index
	if err == nil {
		err = format.NewDecoder(bytes.NewReader(data)).Decode(&x)
	}
	for i := 0; err == nil && i < len(x.Entries); i++ {
		err = plainEntry(x.Entries[i])
	}
	if err != nil {
		return nil, cannot("cannot read the index", err)
	}
	out := stage(x.Entries)
	out.sum = sum
	r.index.Store(out)
	return out, nil
}

// stage makes the trees of an index. It leaves out intent-to-add paths, as a commit does.
func stage(index []*format.Entry) *staged {
	out := &staged{trees: map[plumbing.Hash][]treeEntry{}}
	dirs := map[string][]treeEntry{"": nil} // by paths with a slash at the end
	for _, e := range index {
		if e.IntentToAdd {
			continue
		}
		if e.SkipWorktree {
			out.sparse = append(out.sparse, e.Name)
		}
		dir, name := path.Split(e.Name)
		dirs[dir] = append(dirs[dir], treeEntry{name: name, mode: e.Mode, id: e.Hash})
		for known := false; dir != "" && !known; {
			dir, _ = path.Split(strings.TrimSuffix(dir, "/"))
			if _, known = dirs[dir]; !known {
				dirs[dir] = nil
			}
		}
	}
	// Subdirectories are before their parents.
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(dirs))) {
		entries := dirs[dir]
		slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
		var data []byte
		for _, e := range entries {
			data = fmt.Appendf(data, "%o %s\x00%s", uint32(e.mode), e.name, e.id[:])
		}
		out.root = plumbing.ComputeHash(plumbing.TreeObject, data)
		out.trees[out.root] = entries
		if dir != "" {
			up, name := path.Split(strings.TrimSuffix(dir, "/"))
			dirs[up] = append(dirs[up], treeEntry{name: name, mode: filemode.Dir, id: out.root})
		}
	}
	return out
}

// HoldIndex lists all files of the index.
func (r *Repo) HoldIndex(ctx context.Context) ([]history.File, error) {
	return r.List(ctx, history.Index, history.Filter{All: true})
}

// Sparse lists those of some paths of the index that are kept out of the work tree.
func (r *Repo) Sparse(ctx context.Context, paths []string) (sparse []string, err error) {
	index, err := r.readIndex(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(index.sparse), func(path string) bool { return !slices.Contains(paths, path) }), nil
}

// Marks are as [githistory.Repo.Marks].
func (r *Repo) Marks(_ context.Context, f history.Filter) ([]githistory.Mark, error) {
	marks, known, err := githistory.MarksIn(filepath.Join(r.GitDir, "index"), githistory.SHA1)
	if err != nil {
		return nil, cannot("cannot read the index", err)
	}
	if !known {
		return nil, unserved("its index has a form that only git reads")
	}
	marks = githistory.OnDisk(r.Top, githistory.NewFilter(f), marks)
	if _, set := r.config.last("core.sparsecheckout"); set && len(marks) > 0 {
		return nil, unserved("core.sparseCheckout is set") // git ignores the mark of a file on disk there
	}
	return marks, nil
}
