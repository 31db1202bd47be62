package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	format "github.com/go-git/go-git/v5/plumbing/format/index"

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

// readIndex reads the index, unless it is the last one that was read. The entries of a missing file are none. Intent-to-add paths are left
// out, as in a commit.
func (r *Repo) readIndex(ctx context.Context, last *staged) (entries []*format.Entry, sum plumbing.Hash, err error) {
	if err := alive(ctx, "reading the index"); err != nil {
		return nil, sum, err
	}
	file, err := os.Open(r.indexFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, sum, nil
	}
	if err == nil {
		defer func() { err = cannot("cannot read the index", errors.Join(err, file.Close())) }()
		sum, err = checksum(file)
	}
	if err != nil || last != nil && last.sum == sum {
		return nil, sum, err
	}
	var x format.Index
	err = format.NewDecoder(bufio.NewReader(file)).Decode(&x)
	entries = slices.DeleteFunc(x.Entries, func(e *format.Entry) bool { return e.IntentToAdd })
	for _, e := range entries {
		usual := e.Mode == canonical(e.Mode) && e.Mode != filemode.Dir
		if err == nil && (!usual || e.Name == "" || path.Clean("/"+e.Name) != "/"+e.Name || strings.Contains(e.Name, "\x00")) {
			err = fmt.Errorf("it has the entry %q with the mode %o", e.Name, uint32(e.Mode))
		}
	}
	return entries, sum, err
}

// checksum is the hash of the content with which an index ends (gitformat-index(5)).
func checksum(index *os.File) (sum plumbing.Hash, err error) {
	info, err := index.Stat()
	if err == nil {
		_, err = index.ReadAt(sum[:], max(info.Size()-int64(len(sum)), 0))
	}
	return sum, err
}

// staged is the tree that a commit of the index would have: its id, and it and all its subtrees by their ids. If there are conflicts, the
// id is not that of any commit's tree.
type staged struct {
	sum   plumbing.Hash // of the index file
	root  plumbing.Hash
	trees map[plumbing.Hash][]treeEntry
}

// indexTree is the tree of the index. A hook asks for it ten times.
func (r *Repo) indexTree(ctx context.Context) (*staged, error) {
	last := r.index.Load()
	entries, sum, err := r.readIndex(ctx, last)
	if err != nil || last != nil && last.sum == sum {
		return last, err
	}
	dirs := map[string][]treeEntry{"": nil}
	for _, e := range entries {
		dir, name := split(e.Name)
		dirs[dir] = append(dirs[dir], treeEntry{name: name, mode: e.Mode, id: e.Hash, unmerged: e.Stage != 0})
		for known := false; dir != "" && !known; {
			dir, _ = split(dir)
			if _, known = dirs[dir]; !known {
				dirs[dir] = nil
			}
		}
	}
	out := &staged{sum: sum, trees: map[plumbing.Hash][]treeEntry{}}
	// Subdirectories are before their parents.
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(dirs))) {
		entries := inOrder(dirs[name])
		out.root = treeID(entries)
		out.trees[out.root] = entries
		if name != "" {
			dir, base := split(name)
			dirs[dir] = append(dirs[dir], treeEntry{name: base, mode: filemode.Dir, id: out.root})
		}
	}
	if !sum.IsZero() { // there is no file, or one without a checksum
		r.index.Store(out)
	}
	return out, nil
}

// inOrder sorts entries as in a tree. A conflict has up to three entries, of which one remains.
func inOrder(entries []treeEntry) []treeEntry {
	slices.SortStableFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return slices.CompactFunc(entries, func(a, b treeEntry) bool { return a.unmerged && b.unmerged && a.name == b.name })
}

// treeID is the id of a tree of entries.
func treeID(entries []treeEntry) plumbing.Hash {
	var data []byte
	for _, e := range entries {
		data = fmt.Appendf(data, "%o %s\x00%s", uint32(e.mode), e.name, e.id[:])
		if e.unmerged {
			data = append(data, " unmerged"...)
		}
	}
	return plumbing.NewHash(githistory.SHA1.ID("tree", data))
}

// split splits a path into its directory, empty for the root, and its name.
func split(name string) (dir, base string) {
	at := strings.LastIndexByte(name, '/')
	return name[:max(at, 0)], name[at+1:]
}
