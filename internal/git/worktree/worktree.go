// Package worktree presents the files of a work tree as one more revision of its repository, so that they are judged like a commit.
package worktree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/directory"
	"github.com/small-gate/small-gate/internal/small"
)

// Repository is the part of a repository used here.
type Repository interface {
	history.History
	// Sparse lists those of some index paths that are kept out of the work tree (git-sparse-checkout(1)).
	Sparse(ctx context.Context, paths []string) ([]string, error)
}

// History is a repository in which [history.WorkTree] stands for the files of the work tree. It knows those that are in the index; if a log
// of the index is missing on disk, it also looks for workspaces outside the index, since a log may have moved there.
type History struct {
	Repository
	// top is the root of the work tree.
	top   string
	files *directory.Tree
	// limit is the size of the largest file whose content is compared, in bytes.
	limit int64
	// read has the contents of files that differ from the index, by object id.
	read map[string]history.Blob
}

// Open makes a history of a repository with its work tree in top. Files of more than limit bytes are not read.
func Open(repo Repository, top string, limit int64) (*History, error) {
	files, err := directory.Open(top)
	return &History{Repository: repo, top: top, files: files, limit: limit, read: map[string]history.Blob{}}, err
}

// List lists files; of the work tree, all that are on disk.
func (h *History) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	if revision != history.WorkTree {
		return h.Repository.List(ctx, revision, f)
	}
	files, err := h.files.List(ctx, "", f)
	if err != nil {
		return nil, err
	}
	for i := range files {
		if files[i].Mode != history.ModeDirectory {
			if files[i], err = h.identify(ctx, files[i], ""); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// Blob reads an object, or a file of the work tree as it was when listed or compared.
func (h *History) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	blob, ours := h.read[object]
	if !ours {
		return h.Repository.Blob(ctx, object, limit)
	}
	if blob.Size > limit {
		blob.Data = nil
	}
	return blob, nil
}

// Signature is a commit's author and message; the work tree's author is the one that git would write.
func (h *History) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if revision == history.WorkTree {
		revision = history.Index
	}
	return h.Repository.Signature(ctx, revision)
}

// Diff compares trees. A change of the work tree is a change of the index followed by a change from the index to the files.
func (h *History) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	asked := slices.Clone(edges)
	for i := range asked {
		if asked[i].Child == history.WorkTree {
			asked[i].Child = history.Index
		}
	}
	out, err := h.Repository.Diff(ctx, asked, f)
	if err != nil {
		return nil, err
	}
	if slices.Equal(asked, edges) {
		return out, nil
	}
	later, err := h.sinceIndex(ctx, f)
	if err != nil {
		return nil, err
	}
	for i := range edges {
		if edges[i].Child != history.WorkTree {
			continue
		}
		if out[i], err = h.followed(ctx, out[i], later); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// followed combines changes of the index with later changes of the files. Files that only the index has lost are still on disk.
func (h *History) followed(ctx context.Context, first, second []history.Change) ([]history.Change, error) {
	for i, c := range first {
		if c.New != (history.File{}) {
			continue
		}
		now, there, err := h.onDisk(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		if there {
			first[i].New = now
		}
	}
	return compose(first, second), nil
}

// compose combines two lists of changes; each second change begins with the result of the first. Both are sorted by path.
func compose(first, second []history.Change) []history.Change {
	byPath := map[string]history.Change{}
	for _, c := range first {
		byPath[c.Path] = c
	}
	for _, c := range second {
		if before, both := byPath[c.Path]; both {
			c.Old = before.Old
		}
		byPath[c.Path] = c
	}
	out := make([]history.Change, 0, len(byPath))
	for _, c := range byPath {
		if c.Old != c.New {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// sinceIndex are the differences between the index and the files.
func (h *History) sinceIndex(ctx context.Context, f history.Filter) ([]history.Change, error) {
	tracked, err := h.Repository.List(ctx, history.Index, f)
	if err != nil {
		return nil, err
	}
	var changed []history.Change
	var gone []string
	for _, before := range tracked {
		now, there, err := h.onDisk(ctx, before)
		if err != nil {
			return nil, err
		}
		if !there {
			gone = append(gone, before.Path)
		} else if now != before {
			changed = append(changed, history.Change{Path: before.Path, Old: before, New: now})
		}
	}
	lost, err := h.lost(ctx, tracked, gone)
	if err != nil {
		return nil, err
	}
	changed = append(changed, lost...)
	slices.SortFunc(changed, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
	return changed, nil
}

// onDisk is the state on disk of a path in the index.
func (h *History) onDisk(ctx context.Context, before history.File) (now history.File, there bool, err error) {
	// If the path goes through a link, git treats the files there as untracked, or ignores them.
	name := filepath.Join(h.top, filepath.FromSlash(before.Path))
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) || err == nil && dir != filepath.Dir(name) {
		return now, false, nil
	}
	now, there, err = h.files.File(before.Path)
	if err != nil || !there {
		return now, false, err
	}
	if now.Regular() && before.Regular() {
		now.Mode = before.Mode // a file system may not record executable files
	}
	now, err = h.identify(ctx, now, before.Object)
	return now, true, err
}

// identify reads a file and sets the object id that git would give to its bytes. like is an id of the repository, if one is known.
func (h *History) identify(ctx context.Context, f history.File, like string) (history.File, error) {
	f.Object = history.WorkTree + "/" + f.Path // too large to read, or not a regular file: a pipe may be endless
	if !f.Regular() && f.Mode != history.ModeLink {
		return f, nil
	}
	blob, err := h.files.Blob(ctx, f.Path, h.limit)
	if err != nil {
		return f, err
	}
	if blob.Data != nil || blob.Size == 0 {
		f.Object = history.BlobID(blob.Data, like)
	}
	if f.Object != like {
		h.read[f.Object] = blob
	}
	return f, nil
}

// lost are the changes of paths that are missing on disk, and, if there is a log among them, the possible new places of a log.
func (h *History) lost(ctx context.Context, tracked []history.File, gone []string) ([]history.Change, error) {
	if len(gone) == 0 {
		return nil, nil
	}
	sparse, err := h.Sparse(ctx, gone)
	if err != nil {
		return nil, err
	}
	var out []history.Change
	known, log := map[string]bool{}, false
	for _, f := range tracked {
		known[f.Path] = true
		if slices.Contains(gone, f.Path) && !slices.Contains(sparse, f.Path) {
			out = append(out, history.Change{Path: f.Path, Old: f})
			_, name, in := small.SplitPath(f.Path)
			log = log || in && name == small.Progress.FileName()
		}
	}
	if !log {
		return out, nil
	}
	files, err := h.List(ctx, history.WorkTree, history.Workspaces())
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !known[f.Path] && f.Regular() {
			out = append(out, history.Change{Path: f.Path, New: f})
		}
	}
	return out, nil
}
