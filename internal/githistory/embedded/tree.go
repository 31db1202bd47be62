package embedded

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// maxTree bounds the size of one tree object, in bytes.
	maxTree = 256 << 20
	// maxEntries bounds how many entries of trees are kept.
	maxEntries = 100_000
)

// mode is the kind of a tree's entry and its permissions, as git reads them.
type mode uint32

// The kinds of entries.
const (
	modeDir     mode = 0o040000
	modeFile    mode = 0o100644
	modeProgram mode = 0o100755
	modeLink    mode = 0o120000
	modeModule  mode = 0o160000
	kindOfFile  mode = 0o170000
)

// canonical is the mode that git takes an entry's for: old trees have other
// permissions than the two that there are now, and what is no file, no
// directory and no link is a submodule.
func canonical(m mode) mode {
	switch m & kindOfFile {
	case modeFile & kindOfFile:
		if m&0o100 != 0 {
			return modeProgram
		}
		return modeFile
	case modeLink, modeDir:
		return m & kindOfFile
	}
	return modeModule
}

// treeEntry is one entry of a tree. The zero value stands for none.
type treeEntry struct {
	name string
	mode mode
	id   plumbing.Hash
}

func (e treeEntry) isDir() bool { return e.mode == modeDir }

// sortKey is what git sorts by.
func (e treeEntry) sortKey() string {
	if e.isDir() {
		return e.name + "/"
	}
	return e.name
}

// file is the entry as the gate knows it; the zero File for none and for a
// directory.
func (e treeEntry) file(path string) history.File {
	if e.mode == 0 || e.isDir() {
		return history.File{}
	}
	return history.File{Path: path, Mode: fmt.Sprintf("%06o", uint32(e.mode)), Object: e.id.String()}
}

// parseTree reads the entries of a tree object:
//
//	<octal mode> SP <name> NUL <id>
func parseTree(data []byte) ([]treeEntry, error) {
	entries := make([]treeEntry, 0, len(data)/(idSize+12))
	for text := string(data); text != ""; {
		digits, rest, ok1 := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		m, err := strconv.ParseUint(digits, 8, 21)
		if !ok1 || !ok2 || err != nil || name == "" || len(rest) < idSize {
			return nil, errors.New("the tree is damaged")
		}
		e := treeEntry{name: name, mode: canonical(mode(m))}
		text = rest[copy(e.id[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// tree reads a tree. The zero id stands for the one without entries.
func (r *Repo) tree(id plumbing.Hash) ([]treeEntry, error) {
	if id == plumbing.ZeroHash || id == emptyTree {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if entries, known := r.trees[id]; known {
		return entries, nil
	}
	o, err := r.object(id, plumbing.TreeObject, maxTree)
	if err != nil {
		return nil, err
	}
	if o.data == nil {
		return nil, r.unreadable(id, fmt.Errorf("a tree of %d bytes", o.size))
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, r.unreadable(id, err)
	}
	if r.room -= len(entries); r.room < 0 {
		r.trees, r.room = map[plumbing.Hash][]treeEntry{}, maxEntries
	}
	r.trees[id] = entries
	return entries, nil
}

// emptyTree is the id of the tree without entries. It need not be stored.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// join is the path of an entry in a directory.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
