package gate

import (
	"context"
	"slices"
	"strings"
)

// Below narrows a tree to what lies at or below a directory ("" for all of
// it). Paths stay relative to the tree's root.
func Below(tree Tree, dir string) Tree {
	if dir == "" {
		return tree
	}
	return narrowed{tree, dir + "/"}
}

type narrowed struct {
	Tree
	prefix string
}

// Files lists what the tree lists, and leaves out what lies elsewhere.
func (n narrowed) Files(ctx context.Context, revision string, dirs ...string) ([]File, error) {
	files, err := n.Tree.Files(ctx, revision, dirs...)
	return slices.DeleteFunc(files, func(f File) bool { return !strings.HasPrefix(f.Path, n.prefix) }), err
}

// Glob lists what the tree lists, and leaves out what lies elsewhere.
func (n narrowed) Glob(ctx context.Context, revision string, patterns ...string) ([]File, error) {
	files, err := n.Tree.Glob(ctx, revision, patterns...)
	return slices.DeleteFunc(files, func(f File) bool { return !strings.HasPrefix(f.Path, n.prefix) }), err
}
