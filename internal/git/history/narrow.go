package githistory

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
)

const (
	// maxTree bounds the size of a tree that is read, in bytes.
	maxTree = 256 << 10
	// maxTrees bounds the trees that are read for one list: git lists more of them sooner.
	maxTrees = 32
)

// narrow reports whether all that the filter can select is in few places, which it names.
func (f *Filter) narrow() bool {
	anywhere := func(g glob) bool { return g.prefix == "" }
	return !f.All && (!f.Workspaces || len(f.prefixes) > 0) && !slices.ContainsFunc(f.rest, anywhere) && len(f.below) <= maxTrees
}

// walker lists files of a commit from its trees, which the process that serves objects reads.
type walker struct {
	repo   *Repo
	filter *Filter
	trees  int
	files  []history.File
}

// walkTrees lists the files of a commit that a narrow filter selects; false if git has to be asked, which also explains what is wrong.
func (r *Repo) walkTrees(ctx context.Context, commit string, filter *Filter) ([]history.File, bool) {
	if !filter.narrow() || r.format.Check(commit) != nil {
		return nil, false
	}
	c, err := r.object(ctx, commit, "commit", maxCommit)
	if err != nil {
		return nil, false
	}
	line, _, _ := strings.Cut(string(c.Data), "\n")
	root, found := strings.CutPrefix(line, "tree ")
	w := walker{repo: r, filter: filter}
	if !found || !w.dir(ctx, "", root) {
		return nil, false
	}
	return w.files, true
}

// dir lists a directory; false if its tree is not one that is understood here.
func (w *walker) dir(ctx context.Context, prefix, tree string) bool {
	if w.trees++; w.trees > maxTrees {
		return false
	}
	o, err := w.repo.object(ctx, tree, "tree", maxTree)
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
			if w.filter.MayHold(path) && !w.dir(ctx, path+"/", id) {
				return false
			}
		case "100644", "100755", history.ModeLink, history.ModeSubmodule:
			if w.filter.Matches(path) {
				w.files = append(w.files, history.File{Path: path, Mode: mode, Object: id})
			}
		default:
			return false // git makes another mode of it
		}
	}
	return true
}
