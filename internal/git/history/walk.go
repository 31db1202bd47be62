package githistory

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
)

const (
	// maxTree is the size in bytes of the largest tree object that is read.
	maxTree = 256 << 10
	// maxTrees is how many tree objects are read for one list. For more of them it is faster to have git list the files.
	maxTrees = 32
)

// isNarrow reports whether the filter can select files in a few places only, which walkTrees reads faster than git lists files.
func (f *Filter) isNarrow() bool {
	anywhere := func(g glob) bool { return g.prefix == "" }
	return !f.All && (!f.Workspaces || len(f.prefixes) > 0) && !slices.ContainsFunc(f.wildcards, anywhere) && len(f.beginnings) <= maxTrees
}

// walker lists files of a commit. It reads the tree objects with the process that serves objects.
type walker struct {
	repo      *Repo
	filter    *Filter
	treesRead int
	files     []history.File
}

// walkTrees lists the files of a commit that a narrow filter selects. It returns false if git has to list them instead. It does so on every error,
// because git then says what is wrong.
func (r *Repo) walkTrees(ctx context.Context, commit string, filter *Filter) ([]history.File, bool) {
	if !filter.isNarrow() || r.format.Check(commit) != nil {
		return nil, false
	}
	c, err := r.readObject(ctx, commit, "commit", maxCommit)
	if err != nil {
		return nil, false
	}
	line, _, _ := strings.Cut(string(c.Data), "\n")
	root, found := strings.CutPrefix(line, "tree ")
	w := walker{repo: r, filter: filter}
	if !found || !w.listDir(ctx, "", root) {
		return nil, false
	}
	return w.files, true
}

// listDir adds the files at and below one directory. It returns false if git has to list them: a tree object is missing or too large, there are
// too many, or one has a form that only git understands.
func (w *walker) listDir(ctx context.Context, prefix, tree string) bool {
	if w.treesRead++; w.treesRead > maxTrees {
		return false
	}
	o, err := w.repo.readObject(ctx, tree, "tree", maxTree)
	if err != nil || o.Data == nil && o.Size > 0 {
		return false
	}
	size := w.repo.format.idLength / 2
	for text := string(o.Data); text != ""; {
		mode, rest, ok1 := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		if !ok1 || !ok2 || name == "" || len(rest) < size {
			return false
		}
		path, id := prefix+name, hex.EncodeToString([]byte(rest[:size]))
		text = rest[size:]
		switch mode {
		case "40000":
			if w.filter.MayContain(path) && !w.listDir(ctx, path+"/", id) {
				return false
			}
		case "100644", "100755", history.ModeLink, history.ModeSubmodule:
			if w.filter.Matches(path) {
				w.files = append(w.files, history.File{Path: path, Mode: mode, Object: id})
			}
		default:
			return false // git shows another mode for such an entry
		}
	}
	return true
}
