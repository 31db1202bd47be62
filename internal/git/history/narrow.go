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

// isNarrow reports whether the filter names the few places in which everything is that it can select.
func (f *Filter) isNarrow() bool {
	anywhere := func(g glob) bool { return g.prefix == "" }
	return !f.All && (!f.Workspaces || len(f.prefixes) > 0) && !slices.ContainsFunc(f.rest, anywhere) && len(f.below) <= maxTrees
}

// walker lists files of a commit by reading its tree objects from the process that serves objects.
type walker struct {
	repo   *Repo
	filter *Filter
	trees  int
	files  []history.File
}

// walkTrees lists the files of a commit that a narrow filter selects. It returns false if git has to list them instead, also where something is
// wrong: git then says what.
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

// listDir adds the files of one directory. It returns false if the tree is too large or has a form that only git understands.
func (w *walker) listDir(ctx context.Context, prefix, tree string) bool {
	if w.trees++; w.trees > maxTrees {
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
			if w.filter.MayHold(path) && !w.listDir(ctx, path+"/", id) {
				return false
			}
		case "100644", "100755", history.ModeLink, history.ModeSubmodule:
			if w.filter.Matches(path) {
				w.files = append(w.files, history.File{Path: path, Mode: mode, Object: id})
			}
		default:
			return false // git shows such an entry with another mode
		}
	}
	return true
}
