package gate_test

import (
	"cmp"
	"context"
	"crypto/sha1" // names objects, as git does
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// blobFile is one file of a tree in memory.
type blobFile struct {
	data string
	// mode is git's; empty means an ordinary file.
	mode string
	// unmerged is a path of the index that has a conflict.
	unmerged bool
}

// fileTree is a tree in memory: files by path.
type fileTree map[string]blobFile

// memoryHistory is a gate.History without git: commits and an index in memory.
type memoryHistory struct {
	commits map[string]history.Commit
	trees   map[string]fileTree
	// order lists the commits, parents before children.
	order []string
	blobs map[string]string
	// signatures by revision.
	signatures map[string]history.Signature
}

func newMemoryHistory() *memoryHistory {
	return &memoryHistory{
		commits: map[string]history.Commit{}, trees: map[string]fileTree{}, blobs: map[string]string{},
		signatures: map[string]history.Signature{},
	}
}

// commit adds a commit with a tree and returns its id. Two commits with equal
// content are two commits, as their place in the order is part of the id.
func (h *memoryHistory) commit(tree fileTree, parents ...string) string {
	id := hexID(fmt.Sprint("commit ", len(h.order), parents))
	h.commits[id] = history.Commit{ID: id, Parents: parents}
	h.order = append(h.order, id)
	h.setTree(id, tree)
	return id
}

// sign says who made a commit.
func (h *memoryHistory) sign(revision string, by history.Signature) { h.signatures[revision] = by }

// Signature fulfils history.History.
func (h *memoryHistory) Signature(_ context.Context, revision string) (history.Signature, error) {
	if _, err := h.tree(revision); err != nil {
		return history.Signature{}, err
	}
	return h.signatures[revision], nil
}

// stage makes a tree the index.
func (h *memoryHistory) stage(tree fileTree) { h.setTree(history.Index, tree) }

func (h *memoryHistory) setTree(revision string, tree fileTree) {
	h.trees[revision] = tree
	for _, f := range tree {
		h.blobs[blobID(f)] = f.data
	}
}

func hexID(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func blobID(f blobFile) string { return hexID("blob " + f.data) }

// tree returns a revision's tree; the empty revision's is empty.
func (h *memoryHistory) tree(revision string) (fileTree, error) {
	tree, known := h.trees[revision]
	if !known && revision != "" {
		return nil, fmt.Errorf("the history has no revision %q", revision)
	}
	return tree, nil
}

// filesOf lists the files of a tree that a filter means, in order of path.
func filesOf(tree fileTree, filter history.Filter) []history.File {
	return slices.DeleteFunc(allFiles(tree), func(f history.File) bool {
		dir, in := small.WorkspaceOf(f.Path)
		in = in && filter.Workspaces && (len(filter.Dirs) == 0 || slices.Contains(filter.Dirs, dir))
		twin := slices.ContainsFunc(filter.Twins, func(of string) bool { _, is := small.Twin(f.Path, of); return is })
		matches := policy.Matches(filter.Patterns, f.Path)
		for _, p := range filter.Patterns {
			matches = matches || filter.AnyCase && policy.Matches([]string{small.Fold(p)}, small.Fold(f.Path))
		}
		return !filter.All && !in && !twin && !matches
	})
}

// allFiles lists a tree, in order of path.
func allFiles(tree fileTree) []history.File {
	var out []history.File
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		f := tree[path]
		out = append(out, history.File{Path: path, Mode: cmp.Or(f.mode, "100644"), Object: blobID(f), Unmerged: f.unmerged})
	}
	return out
}

// List fulfils history.History.
func (h *memoryHistory) List(_ context.Context, revision string, f history.Filter) ([]history.File, error) {
	tree, err := h.tree(revision)
	if err != nil {
		return nil, err
	}
	return filesOf(tree, f), nil
}

// Blob fulfils history.History.
func (h *memoryHistory) Blob(_ context.Context, object string, limit int64) (history.Blob, error) {
	data, known := h.blobs[object]
	if !known {
		return history.Blob{}, fmt.Errorf("the history has no object %q", object)
	}
	if int64(len(data)) > limit {
		return history.Blob{Size: int64(len(data))}, nil
	}
	return history.Blob{Size: int64(len(data)), Data: []byte(data)}, nil
}

// Diff fulfils history.History.
func (h *memoryHistory) Diff(_ context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	out := make([][]history.Change, len(edges))
	for i, edge := range edges {
		var err error
		if out[i], err = h.compare(edge, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compare lists what differs between two trees, as far as a filter means them.
func (h *memoryHistory) compare(edge history.Edge, filter history.Filter) ([]history.Change, error) {
	parent, err := h.tree(edge.Parent)
	if err != nil {
		return nil, err
	}
	child, err := h.tree(edge.Child)
	if err != nil {
		return nil, err
	}
	byPath := map[string]history.Change{}
	for _, f := range filesOf(parent, filter) {
		byPath[f.Path] = history.Change{Path: f.Path, Old: f}
	}
	for _, f := range filesOf(child, filter) {
		byPath[f.Path] = history.Change{Path: f.Path, Old: byPath[f.Path].Old, New: f}
	}
	var out []history.Change
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if c := byPath[path]; c.Old != c.New {
			out = append(out, c)
		}
	}
	return out, nil
}

// Commits fulfils history.History.
func (h *memoryHistory) Commits(_ context.Context, include, exclude []string) ([]history.Commit, error) {
	wanted, err := h.reachable(include)
	if err != nil {
		return nil, err
	}
	unwanted, err := h.reachable(exclude)
	if err != nil {
		return nil, err
	}
	listed := func(id string) bool { return wanted[id] && !unwanted[id] }
	var out []history.Commit
	for _, id := range h.order {
		if !listed(id) {
			continue
		}
		c := history.Commit{ID: id}
		c.Parents = h.commits[id].Parents
		out = append(out, c)
	}
	return out, nil
}

func (h *memoryHistory) reachable(from []string) (map[string]bool, error) {
	seen := map[string]bool{}
	todo := slices.Clone(from)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		c, known := h.commits[id]
		if !known {
			return nil, fmt.Errorf("the history has no commit %q", id)
		}
		seen[id] = true
		todo = append(todo, c.Parents...)
	}
	return seen, nil
}

// logPath is where a workspace's log is.
func logPath(dir string) string { return small.Progress.Path(strings.TrimSuffix(dir, "/")) }

// MergeBases are the common ancestors that no other common ancestor reaches.
func (h *memoryHistory) MergeBases(_ context.Context, a, b string) ([]string, error) {
	ofA, err := h.reachable([]string{a})
	if err != nil {
		return nil, err
	}
	ofB, err := h.reachable([]string{b})
	if err != nil {
		return nil, err
	}
	var common []string
	for id := range ofA {
		if ofB[id] {
			common = append(common, id)
		}
	}
	slices.Sort(common)
	return slices.DeleteFunc(slices.Clone(common), func(id string) bool {
		return slices.ContainsFunc(common, func(other string) bool {
			if other == id {
				return false
			}
			behind, err := h.reachable([]string{other})
			return err == nil && behind[id]
		})
	}), nil
}
