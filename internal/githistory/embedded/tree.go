package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/small-gate/small-gate/internal/gate"
)

// maxTree bounds the size of one tree object, in bytes.
const maxTree = 256 << 20

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

// treeEntry is one entry of a tree, without its name. The zero value stands for
// none.
type treeEntry struct {
	mode mode
	id   plumbing.Hash
}

func (e treeEntry) isDir() bool { return e.mode == modeDir }

// file is the entry as the gate knows it; the zero File for none and for a
// directory.
func (e treeEntry) file(path string) gate.File {
	if e.mode == 0 || e.isDir() {
		return gate.File{}
	}
	return gate.File{Path: path, Mode: fmt.Sprintf("%06o", uint32(e.mode)), Object: e.id.String()}
}

// tree goes through the entries of a tree object:
//
//	<octal mode> SP <name> NUL <id>
type tree struct {
	rest []byte
	// name and entry are the present one's; name is empty at the end.
	name  []byte
	entry treeEntry
	err   error
}

var errTree = errors.New("the tree is damaged")

// next goes on to the next entry.
func (t *tree) next() bool {
	t.name, t.entry = nil, treeEntry{}
	if len(t.rest) == 0 || t.err != nil {
		return false
	}
	space := bytes.IndexByte(t.rest, ' ')
	end := bytes.IndexByte(t.rest, 0)
	if space < 1 || space > 7 || end < space+2 || len(t.rest) < end+1+idSize {
		t.err = errTree
		return false
	}
	var m mode
	for _, digit := range t.rest[:space] {
		if digit < '0' || digit > '7' {
			t.err = errTree
			return false
		}
		m = m<<3 | mode(digit-'0')
	}
	t.name = t.rest[space+1 : end]
	t.entry = treeEntry{mode: canonical(m), id: plumbing.Hash(t.rest[end+1 : end+1+idSize])}
	t.rest = t.rest[end+1+idSize:]
	return true
}

// compareNames orders the entries of a tree as git does: a directory counts as
// if its name ended in a slash.
func compareNames(a []byte, aDir bool, b []byte, bDir bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return int(nameEnd(a, aDir, n)) - int(nameEnd(b, bDir, n))
}

func nameEnd(name []byte, dir bool, n int) byte {
	switch {
	case len(name) > n:
		return name[n]
	case dir:
		return '/'
	}
	return 0
}

// tree opens a tree. The zero id stands for the one without entries.
func (r *Repo) tree(id plumbing.Hash) (*tree, error) {
	if id == plumbing.ZeroHash || id == emptyTree {
		return &tree{}, nil
	}
	o, err := r.object(id, plumbing.TreeObject, maxTree)
	if err == nil && o.data == nil {
		err = r.unreadable(id, fmt.Errorf("a tree of %d bytes", o.size))
	}
	return &tree{rest: o.data}, err
}

// emptyTree is the id of the tree without entries. It need not be stored.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// entryAt is what a tree holds at a path.
func (r *Repo) entryAt(root plumbing.Hash, path string) (treeEntry, error) {
	at := treeEntry{mode: modeDir, id: root}
	for name := range strings.SplitSeq(path, "/") {
		if !at.isDir() {
			return treeEntry{}, nil
		}
		t, err := r.tree(at.id)
		if err != nil {
			return treeEntry{}, err
		}
		id := at.id
		at = treeEntry{}
		for t.next() {
			if string(t.name) != name {
				continue
			}
			if at != (treeEntry{}) {
				return treeEntry{}, r.unreadable(id, errors.New("it holds a name twice"))
			}
			at = t.entry
		}
		if t.err != nil {
			return treeEntry{}, r.unreadable(id, t.err)
		}
	}
	return at, nil
}

// join is the path of an entry in a directory.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
