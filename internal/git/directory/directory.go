// Package directory reads workspaces from files on disk, without git. It implements history.Tree, but ignores revisions and uses the path of a
// file as its object id.
package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Reader is the name of this reader in a report.
const Reader = "files"

// Tree is a directory on disk. It lists symbolic links as links, and nothing behind them.
type Tree struct {
	root string // not a symbolic link
}

// Open returns the tree below root, which must be a directory.
func Open(root string) (*Tree, error) {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &failure.Error{Message: "there is no directory " + root, Remedy: "name a directory that exists", Err: err}
	}
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot look into %s: %v", root, err), Remedy: "name a readable directory with --dir", Err: err}
	}
	if !info.IsDir() {
		return nil, &failure.Error{Message: root + " is not a directory", Remedy: "name the directory that holds .small/ with --dir"}
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot look into %s: %v", root, err), Remedy: "name a readable directory with --dir", Err: err}
	}
	return &Tree{root: real}, nil
}

// List lists the files that a filter selects, the directories inside a .small, and, if the filter has Dirs, an empty .small itself. It does not
// enter directories with the name .git.
func (t *Tree) List(ctx context.Context, _ string, f history.Filter) ([]history.File, error) {
	var out []history.File
	var err error
	add := func(files []history.File, listErr error) {
		out, err = append(out, files...), errors.Join(err, listErr)
	}
	if f.All || f.Workspaces && len(f.Dirs) == 0 {
		add(t.listBelow(ctx, ".", func(file history.File) bool {
			_, in := small.WorkspaceOf(file.Path)
			return f.All || in
		}))
	}
	for _, dir := range f.Dirs {
		add(t.listWorkspace(ctx, dir))
	}
	for _, p := range f.Patterns {
		add(t.listMatching(ctx, p))
	}
	for _, of := range f.Twins {
		add(t.listTwins(of))
	}
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", t.root, err), Remedy: "let this user read all of it, or name another directory with --dir", Err: err}
	}
	slices.SortFunc(out, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out), nil
}

// listTwins lists the paths that differ from another path only in case, unless this file system has one file for both.
func (t *Tree) listTwins(of string) (out []history.File, err error) {
	entries, err := os.ReadDir(t.diskPath(path.Dir(of)))
	if err != nil {
		return nil, err
	}
	itself, gone := os.Lstat(t.diskPath(of))
	for _, entry := range entries {
		twin := path.Join(path.Dir(of), entry.Name())
		if _, like := small.Twin(twin, of); !like {
			continue
		}
		info, err := entry.Info()
		if err = cmp.Or(gone, err); err == nil && !os.SameFile(info, itself) {
			out = append(out, history.File{Path: twin, Mode: gitMode(entry.Type()), Object: twin})
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) { // else one of the two was deleted meanwhile
			return nil, err
		}
	}
	return out, nil
}

// listWorkspace lists the files and directories in a directory's .small and its lookalikes.
func (t *Tree) listWorkspace(ctx context.Context, dir string) ([]history.File, error) {
	starts, err := t.findWorkspaces(dir)
	if err != nil {
		return nil, err
	}
	var out []history.File
	for _, start := range starts {
		found, err := t.listBelow(ctx, start, func(history.File) bool { return true })
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			found = []history.File{{Path: start, Mode: history.ModeDirectory}} // it exists, and is empty
		}
		out = append(out, found...)
	}
	return out, nil
}

// listMatching lists the files that match a pattern. It descends one element of the pattern at a time, into the directories whose names match.
// From a ** on, or if the pattern has braces or classes, it examines all files below.
func (t *Tree) listMatching(ctx context.Context, pattern string) ([]history.File, error) {
	elements := strings.Split(pattern, "/")
	noClasses := !strings.ContainsAny(pattern, "{}[]")
	dirs := []string{"."}
	for i, element := range elements {
		if !noClasses || element == "**" {
			break
		}
		last := i == len(elements)-1
		end := !slices.ContainsFunc(elements[i+1:], func(e string) bool { return e != "**" }) // a/** matches a, too
		var next []string
		for _, dir := range dirs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			found, err := t.namesMatching(dir, element, !last, end)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		if dirs = next; last {
			return t.filesAt(dirs)
		}
	}
	var out []history.File
	for _, dir := range dirs {
		found, err := t.listBelow(ctx, dir, func(f history.File) bool {
			return f.Mode != history.ModeDirectory && policy.Matches([]string{pattern}, f.Path)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// namesMatching lists the paths in a directory whose names match one element of a pattern: directories if dirs is true, and what is not a
// directory if files is true.
func (t *Tree) namesMatching(dir, element string, dirs, files bool) ([]string, error) {
	entries, err := os.ReadDir(t.diskPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, entry := range entries {
		wanted := entry.IsDir() && dirs || !entry.IsDir() && files
		if wanted && entry.Name() != ".git" && policy.Matches([]string{element}, entry.Name()) {
			out = append(out, path.Join(dir, entry.Name()))
		}
	}
	return out, err
}

// filesAt returns the files that are at the given paths.
func (t *Tree) filesAt(paths []string) ([]history.File, error) {
	var out []history.File
	for _, path := range paths {
		f, found, err := t.File(path)
		if err != nil {
			return nil, err
		}
		if found { // else it was deleted meanwhile
			out = append(out, f)
		}
	}
	return out, nil
}

// File returns the file at a path. found is false if there is none, or a directory.
func (t *Tree) File(path string) (f history.File, found bool, err error) {
	f, err = t.fileAt(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f, false, nil
	}
	if err != nil {
		return f, false, &failure.Error{Message: fmt.Sprintf("cannot look at %s: %v", path, err), Err: err}
	}
	return f, f.Mode != history.ModeDirectory, nil
}

func (t *Tree) fileAt(path string) (history.File, error) {
	info, err := os.Lstat(t.diskPath(path))
	if err != nil {
		return history.File{}, err
	}
	return history.File{Path: path, Mode: gitMode(info.Mode().Type()), Object: path}, nil
}

// HasDirectory reports whether a path leads to a directory, and not through a symbolic link.
func (t *Tree) HasDirectory(dir string) (bool, error) {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		info, err := os.Lstat(t.diskPath(dir[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
			return false, nil
		case err != nil:
			return false, &failure.Error{Message: fmt.Sprintf("cannot look at %s: %v", dir[:i], err), Err: err}
		}
	}
	return true, nil
}

// InNestedRepository reports whether a file belongs to another repository or work tree inside this one, such as a submodule. git add does not take
// such a file.
func (t *Tree) InNestedRepository(name string) (bool, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		dotGit := path.Join(dir, ".git")
		_, found, err := t.File(dotGit)
		if err == nil && !found {
			found, err = t.HasDirectory(dotGit)
		}
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// findWorkspaces returns the paths of a directory's .small and its lookalikes; none if the tree does not have the directory.
func (t *Tree) findWorkspaces(dir string) ([]string, error) {
	start := small.InDir(dir, "")
	if there, err := t.HasDirectory(path.Dir(start)); err != nil || !there {
		return nil, err
	}
	entries, err := os.ReadDir(t.diskPath(path.Dir(start)))
	var out []string
	for _, entry := range entries {
		if name := entry.Name(); name == small.Dir || small.Lookalike(name, small.Dir) {
			out = append(out, path.Join(path.Dir(start), name))
		}
	}
	return out, err
}

// listBelow lists the files at any depth below a slash-separated path, and the directories inside a .small, as far as wanted selects them.
func (t *Tree) listBelow(ctx context.Context, start string, wanted func(history.File) bool) ([]history.File, error) {
	var out []history.File
	add := func(f history.File) {
		if wanted(f) {
			out = append(out, f)
		}
	}
	err := filepath.WalkDir(t.diskPath(start), func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted meanwhile, as a build does
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(t.root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !entry.IsDir() {
			add(history.File{Path: rel, Mode: gitMode(entry.Type()), Object: rel})
			return nil
		}
		// A directory in .small is a finding, even an empty one.
		if _, _, in := small.SplitPath(path.Dir(rel)); in {
			add(history.File{Path: rel, Mode: history.ModeDirectory})
		}
		if entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return nil
	})
	return out, err
}

// gitMode returns the mode that git would record for a kind of file.
func gitMode(kind fs.FileMode) string {
	switch {
	case kind.IsRegular():
		return "100644"
	case kind&fs.ModeSymlink != 0:
		return history.ModeLink
	case kind.IsDir():
		return history.ModeDirectory
	}
	return "000000" // a pipe, socket or device, which git does not record
}

// Blob reads a file of at most limit bytes. For a larger one it returns only the size. For a symbolic link it reads the link's target, as git does.
func (t *Tree) Blob(_ context.Context, object string, limit int64) (blob history.Blob, err error) {
	if info, err := os.Lstat(t.diskPath(object)); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return t.readLink(object, limit)
	}
	f, err := os.Open(t.diskPath(object))
	if err != nil {
		f := &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Err: err}
		if errors.Is(err, fs.ErrPermission) {
			f.Remedy = "make the file readable: `chmod u+r " + wording.ShellWord(t.diskPath(object)) + "`"
		}
		return blob, f
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, min(limit, math.MaxInt64-1)+1))
	if err != nil {
		return blob, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Err: err}
	}
	blob.Size = int64(len(data))
	if blob.Size <= limit {
		blob.Data = data
		return blob, nil
	}
	info, err := f.Stat()
	if err != nil {
		return blob, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Err: err}
	}
	blob.Size = max(blob.Size, info.Size())
	return blob, nil
}

func (t *Tree) readLink(object string, limit int64) (history.Blob, error) {
	target, err := os.Readlink(t.diskPath(object))
	if err != nil {
		return history.Blob{}, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Err: err}
	}
	blob := history.Blob{Size: int64(len(target))}
	if blob.Size <= limit {
		blob.Data = []byte(filepath.ToSlash(target))
	}
	return blob, nil
}

// diskPath returns the path on disk of a slash-separated path in the tree.
func (t *Tree) diskPath(slashed string) string {
	return filepath.Join(t.root, filepath.FromSlash(slashed))
}
