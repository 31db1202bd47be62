package embedded

import (
	"bytes"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// cachedTree is what the index remembers of a directory: if it has the id of a
// tree, then what the index lists in it is exactly that tree.
type cachedTree struct {
	name  string
	valid bool
	id    plumbing.Hash
	subs  []*cachedTree
}

// maxDepth bounds how deep directories may be, where that is read by recursion.
const maxDepth = 4096

// parseCachedTree reads a directory and those in it:
//
//	<name> NUL <number of entries, or -1> SP <number of directories> LF <id unless -1>
func parseCachedTree(data []byte, depth int) (t *cachedTree, rest []byte, ok bool) {
	name, data, ok1 := bytes.Cut(data, []byte{0})
	line, data, ok2 := bytes.Cut(data, []byte{'\n'})
	count, dirs, ok3 := bytes.Cut(line, []byte{' '})
	entries, err1 := strconv.Atoi(string(count))
	subs, err2 := strconv.Atoi(string(dirs))
	if !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil || subs < 0 || depth > maxDepth {
		return nil, nil, false
	}
	t = &cachedTree{name: string(name), valid: entries >= 0}
	if t.valid {
		if len(data) < idSize {
			return nil, nil, false
		}
		t.id, data = plumbing.Hash(data[:idSize]), data[idSize:]
	}
	for range subs {
		sub, rest, ok := parseCachedTree(data, depth+1)
		if !ok {
			return nil, nil, false
		}
		t.subs, data = append(t.subs, sub), rest
	}
	return t, data, true
}

// is reports whether the directory is known to be a tree. It may be nil.
func (t *cachedTree) is(id plumbing.Hash) bool { return t != nil && t.valid && t.id == id }

// byName are the directories in it, which may be none.
func (t *cachedTree) byName() map[string]*cachedTree {
	if t == nil || len(t.subs) == 0 {
		return nil
	}
	subs := make(map[string]*cachedTree, len(t.subs))
	for _, sub := range t.subs {
		subs[sub.name] = sub
	}
	return subs
}
