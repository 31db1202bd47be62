package embedded

import (
	"bytes"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxDepth bounds how deep directories may be, where that is read by recursion.
const maxDepth = 4096

// parseCachedTree reads what the index remembers of a directory and of those in it
// (gitformat-index(5), Cache tree):
//
//	<name> NUL <number of entries, or -1> SP <number of directories> LF <id unless -1>
//
// A directory with an id holds exactly what the tree of that id does. trees gets
// those, by their paths.
func parseCachedTree(data []byte, dir string, depth int, trees map[string]plumbing.Hash) (rest []byte, ok bool) {
	name, data, ok1 := bytes.Cut(data, []byte{0})
	line, data, ok2 := bytes.Cut(data, []byte{'\n'})
	count, dirs, ok3 := bytes.Cut(line, []byte{' '})
	entries, err1 := strconv.Atoi(string(count))
	subs, err2 := strconv.Atoi(string(dirs))
	isRoot := depth == 0
	if !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil || subs < 0 || depth > maxDepth || isRoot != (len(name) == 0) {
		return nil, false
	}
	path := join(dir, string(name))
	if entries >= 0 {
		if len(data) < idSize {
			return nil, false
		}
		trees[path], data = plumbing.Hash(data[:idSize]), data[idSize:]
	}
	for range subs {
		if data, ok = parseCachedTree(data, path, depth+1, trees); !ok {
			return nil, false
		}
	}
	return data, true
}
