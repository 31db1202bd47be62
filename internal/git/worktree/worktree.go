// Package worktree presents the files of a work tree as one more revision of its repository, so that they are judged like a commit.
package worktree

import (
	"cmp"
	"context"
	"path"
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

// History is a repository in which [history.WorkTree] stands for the files of the work tree. Diff compares the files that are in the index. If a
// log of the index is missing on disk, it also compares workspaces outside the index, because the log may have moved there.
type History struct {
	Repository
	files *directory.Tree
	// limit is the size of the largest file whose content is compared, in bytes.
	limit int64
	// contents holds, by object id, the contents of files on disk that the repository may not have.
	contents map[string]history.Blob
	// anyID is an object id of the repository, which tells the hash for files outside the index; empty before Diff.
	anyID string
}

// Open makes the History of a repository whose work tree is at top. It does not keep the content of files of more than limit bytes.
func Open(repo Repository, top string, limit int64) (*History, error) {
	files, err := directory.Open(top)
	return &History{Repository: repo, files: files, limit: limit, contents: map[string]history.Blob{}}, err
}

// List lists the files of a revision that a filter selects. For the work tree, they need not be in the index.
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
			if files[i], err = h.hashFile(ctx, files[i], ""); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// Blob reads an object of the repository, or a file of the work tree as it was when List or Diff read it.
func (h *History) Blob(ctx context.Context, object string, limit int64) (history.Blob, error) {
	blob, inWorkTree := h.contents[object]
	if !inWorkTree {
		return h.Repository.Blob(ctx, object, limit)
	}
	if blob.Size > limit {
		blob.Data = nil
	}
	return blob, nil
}

// Signature returns a commit's author and message. For the work tree, it returns only the author that git would record.
func (h *History) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if revision == history.WorkTree {
		revision = history.Index
	}
	return h.Repository.Signature(ctx, revision)
}

// Diff compares trees. For the work tree, it combines the changes up to the index with the changes from the index to the files.
func (h *History) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	indexEdges := slices.Clone(edges)
	for i := range indexEdges {
		h.anyID = cmp.Or(h.anyID, edges[i].Parent)
		if indexEdges[i].Child == history.WorkTree {
			indexEdges[i].Child = history.Index
		}
	}
	out, err := h.Repository.Diff(ctx, indexEdges, f)
	if err != nil {
		return nil, err
	}
	if slices.Equal(indexEdges, edges) {
		return out, nil
	}
	diskChanges, err := h.diffIndexToDisk(ctx, f)
	if err != nil {
		return nil, err
	}
	for i := range edges {
		if edges[i].Child != history.WorkTree {
			continue
		}
		if out[i], err = h.addDiskChanges(ctx, out[i], diskChanges); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addDiskChanges combines the changes up to the index, first, with those from the index to the files, second. A file that was deleted only in the
// index is still on disk and counts as present.
func (h *History) addDiskChanges(ctx context.Context, first, second []history.Change) ([]history.Change, error) {
	for i, c := range first {
		if c.New != (history.File{}) {
			continue
		}
		now, there, err := h.stateOnDisk(ctx, c.Old)
		if err != nil {
			return nil, err
		}
		if there {
			first[i].New = now
		}
	}
	return composeChanges(first, second), nil
}

// composeChanges combines two lists of successive changes, each sorted by path, and leaves out files that end as they began.
func composeChanges(first, second []history.Change) []history.Change {
	byPath := map[string]history.Change{}
	for _, c := range first {
		byPath[c.Path] = c
	}
	for _, c := range second {
		if before, both := byPath[c.Path]; both {
			c.Old = before.Old
			if before.New.Unmerged && c.Old.Regular() && c.New.Regular() {
				c.New.Mode = c.Old.Mode // the index has no mode for it, and a file system may not record executable files
			}
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

// diffIndexToDisk compares the index with the files on disk.
func (h *History) diffIndexToDisk(ctx context.Context, f history.Filter) ([]history.Change, error) {
	tracked, err := h.Repository.List(ctx, history.Index, f)
	if err != nil {
		return nil, err
	}
	var changed []history.Change
	var missing []string
	for _, before := range tracked {
		now, there, err := h.stateOnDisk(ctx, before)
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, before.Path)
		} else if now != before {
			changed = append(changed, history.Change{Path: before.Path, Old: before, New: now})
		}
	}
	missingChanges, err := h.changesOfMissing(ctx, tracked, missing)
	if err != nil {
		return nil, err
	}
	changed = append(changed, missingChanges...)
	slices.SortFunc(changed, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
	return changed, nil
}

// stateOnDisk returns the file on disk at the path of a file in the index, and whether it exists.
func (h *History) stateOnDisk(ctx context.Context, before history.File) (now history.File, there bool, err error) {
	// If the path leads through a symbolic link, git treats the files there as untracked, or ignores them.
	if there, err := h.files.HasDirectory(path.Dir(before.Path)); err != nil || !there {
		return now, false, err
	}
	now, there, err = h.files.File(before.Path)
	if err != nil || !there {
		return now, false, err
	}
	if now.Regular() && before.Regular() {
		now.Mode = before.Mode // a file system may not record executable files
	}
	now, err = h.hashFile(ctx, now, before.Object)
	return now, true, err
}

// hashFile reads a file and sets the object id that git would give to its content. like is the file's id in the index; empty if it is not there.
func (h *History) hashFile(ctx context.Context, f history.File, like string) (history.File, error) {
	f.Object = history.WorkTree + "/" + f.Path // stays if the file is too large or not a regular one: a pipe may be endless
	if !f.Regular() && f.Mode != history.ModeLink {
		return f, nil
	}
	blob, err := h.files.Blob(ctx, f.Path, h.limit)
	if err != nil {
		return f, err
	}
	if blob.Data != nil || blob.Size == 0 {
		f.Object = history.BlobID(blob.Data, cmp.Or(like, h.anyID))
	}
	if f.Object != like {
		h.contents[f.Object] = blob
	}
	return f, nil
}

// changesOfMissing returns the deletions of the files in the index that are missing on disk, except by a sparse checkout. If there is a log among
// them, it also returns the workspaces' files outside the index as additions, except those of nested repositories: the log may have moved to one of
// them.
func (h *History) changesOfMissing(ctx context.Context, tracked []history.File, missing []string) ([]history.Change, error) {
	if len(missing) == 0 {
		return nil, nil
	}
	sparse, err := h.Sparse(ctx, missing)
	if err != nil {
		return nil, err
	}
	var out []history.Change
	deleted := map[string]bool{}
	for _, path := range missing {
		deleted[path] = true
	}
	for _, path := range sparse {
		delete(deleted, path)
	}
	known, logMissing := map[string]bool{}, false
	for _, f := range tracked {
		known[f.Path] = true
		if deleted[f.Path] {
			out = append(out, history.Change{Path: f.Path, Old: f})
			_, name, in := small.SplitPath(f.Path)
			logMissing = logMissing || in && name == small.Progress.FileName()
		}
	}
	if !logMissing {
		return out, nil
	}
	files, err := h.List(ctx, history.WorkTree, history.Workspaces())
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if known[f.Path] || !f.Regular() {
			continue
		}
		nested, err := h.files.InNestedRepository(f.Path)
		if err != nil {
			return nil, err
		}
		if !nested {
			out = append(out, history.Change{Path: f.Path, New: f})
		}
	}
	return out, nil
}
