package gate

import (
	"context"
	"slices"
	"strings"
)

// Below narrows what is judged of a tree to what lies at or below a directory
// ("" for all of it). Paths stay relative to the tree's root, and what is judged
// may name files elsewhere in it, which Glob finds.
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

// Survey lists what the tree lists, and leaves out what lies elsewhere.
func (n narrowed) Survey(ctx context.Context, revision string, dirs, patterns []string) (workspaces, matched []File, err error) {
	workspaces, matched, err = n.Tree.Survey(ctx, revision, dirs, patterns)
	elsewhere := func(f File) bool { return !strings.HasPrefix(f.Path, n.prefix) }
	return slices.DeleteFunc(workspaces, elsewhere), slices.DeleteFunc(matched, elsewhere), err
}
