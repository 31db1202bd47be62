package read

import (
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/subject"
	"github.com/small-gate/small-gate/internal/small"
)

// GroupByWorkspace sorts the files of a tree into workspaces, in order of directory.
func GroupByWorkspace(files []history.File) (dirs []string, byDir map[string][]history.File) {
	byDir = map[string][]history.File{}
	for _, f := range files {
		dir, ok := small.WorkspaceOf(f.Path)
		if !ok {
			continue
		}
		if outer, _, nested := small.SplitPath(dir); nested && f.Mode == history.ModeDirectory && f.Path == small.InDir(dir, "") {
			dir = outer // an empty .small in a .small is no workspace
		}
		if _, known := byDir[dir]; !known {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], f)
	}
	for _, dir := range dirs {
		// A workspace in another one's .small is a directory there.
		if outer, _, nested := small.SplitPath(dir); nested && byDir[outer] != nil {
			byDir[outer] = append(byDir[outer], history.File{Path: small.InDir(dir, ""), Mode: history.ModeDirectory})
		}
	}
	slices.Sort(dirs)
	return dirs, byDir
}

// ReadFile reads a file of a tree. A path that is no ordinary file, or too large, is a problem.
func ReadFile(ctx context.Context, tree history.Tree, f history.File, limits small.Limits) ([]byte, *small.Problem, error) {
	if f.Unmerged {
		return nil, &small.Problem{
			Kind: small.ProblemYAML, Message: "the path has an unresolved merge conflict in the index",
			Hint: "resolve it, then `git add` the file",
		}, nil
	}
	if !f.Regular() {
		return nil, subject.NotAFile(f), nil
	}
	blob, err := tree.Blob(ctx, f.Object, limits.FileSize())
	if err != nil {
		return nil, nil, err
	}
	if blob.Size > limits.FileSize() {
		p := small.TooLarge(blob.Size, limits)
		return nil, &p, nil
	}
	return blob.Data, nil, nil
}
