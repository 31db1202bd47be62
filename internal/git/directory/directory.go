// Package directory reads workspaces from files on disk, without git. It implements history.Tree: a revision means nothing here, and an
// object id is the file's path.
package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Reader is the name of this way of reading in a report.
const Reader = "files"

// Tree is a directory on disk. Nothing outside it is read: symbolic links are listed as links and never followed.
type Tree struct {
	root string
}

// Open returns the tree below root, which must be a directory.
func Open(root string) (*Tree, error) {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &failure.Error{Message: "there is no directory " + root, Remedy: "name one that is there", Err: err}
	}
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot look into %s: %v", root, err), Remedy: "name a directory that is there with --dir", Err: err}
	}
	if !info.IsDir() {
		return nil, &failure.Error{Message: root + " is not a directory", Remedy: "name the directory that holds .small/ with --dir"}
	}
	return &Tree{root: root}, nil
}

// List lists files, and also directories inside a .small, and an empty .small itself. Directories called .git are skipped.
func (t *Tree) List(ctx context.Context, _ string, f history.Filter) ([]history.File, error) {
	var out []history.File
	var err error
	take := func(files []history.File, listErr error) {
		out, err = append(out, files...), errors.Join(err, listErr)
	}
	if f.All || f.Workspaces && len(f.Dirs) == 0 {
		take(t.walk(ctx, ".", func(file history.File) bool {
			_, in := small.WorkspaceOf(file.Path)
			return f.All || in
		}))
	}
	for _, dir := range f.Dirs {
		take(t.workspace(ctx, dir))
	}
	for _, p := range f.Patterns {
		take(t.glob(ctx, p))
	}
	for _, of := range f.Twins {
		take(t.twins(of))
	}
	if err != nil {
		return nil, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", t.root, err), Err: err}
	}
	slices.SortFunc(out, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out), nil
}

// twins lists paths that differ from one only in case, unless they are the same file on this file system.
func (t *Tree) twins(of string) (out []history.File, err error) {
	entries, err := os.ReadDir(t.path(path.Dir(of)))
	if err != nil {
		return nil, err
	}
	itself, err := os.Lstat(t.path(of))
	for i := 0; err == nil && i < len(entries); i++ {
		twin := path.Join(path.Dir(of), entries[i].Name())
		if _, like := small.Twin(twin, of); !like {
			continue
		}
		var info fs.FileInfo
		if info, err = entries[i].Info(); err == nil && !os.SameFile(info, itself) {
			out = append(out, history.File{Path: twin, Mode: mode(entries[i].Type()), Object: twin})
		}
	}
	return out, err
}

// workspace lists a directory's .small, and its lookalikes.
func (t *Tree) workspace(ctx context.Context, dir string) ([]history.File, error) {
	starts, err := t.smallIn(dir)
	if err != nil {
		return nil, err
	}
	var out []history.File
	for _, start := range starts {
		found, err := t.walk(ctx, start, func(history.File) bool { return true })
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

// glob lists the files that match a pattern. It descends element by element until one can match several directories, and enters only
// directories that can have such a file.
func (t *Tree) glob(ctx context.Context, pattern string) ([]history.File, error) {
	elements := strings.Split(pattern, "/")
	simple := !strings.ContainsAny(pattern, "{}[]")
	at := []string{"."}
	for i, element := range elements {
		if !simple || element == "**" {
			break
		}
		last := i == len(elements)-1
		var next []string
		for _, dir := range at {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			found, err := t.named(dir, element, last)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		if at = next; last {
			return t.listed(at)
		}
	}
	var out []history.File
	for _, dir := range at {
		found, err := t.walk(ctx, dir, func(f history.File) bool {
			return f.Mode != history.ModeDirectory && policy.Matches([]string{pattern}, f.Path)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// named lists the names in a directory that match one element of a pattern: files, or else directories.
func (t *Tree) named(dir, element string, files bool) ([]string, error) {
	entries, err := os.ReadDir(t.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, entry := range entries {
		if entry.IsDir() != files && entry.Name() != ".git" && policy.Matches([]string{element}, entry.Name()) {
			out = append(out, path.Join(dir, entry.Name()))
		}
	}
	return out, err
}

// listed are the files at some paths.
func (t *Tree) listed(paths []string) ([]history.File, error) {
	var out []history.File
	for _, path := range paths {
		f, err := t.file(path)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// File is the file at a path; there is false if there is none, or a directory.
func (t *Tree) File(path string) (f history.File, there bool, err error) {
	f, err = t.file(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f, false, nil
	}
	if err != nil {
		return f, false, &failure.Error{Message: fmt.Sprintf("cannot look at %s: %v", path, err), Err: err}
	}
	return f, f.Mode != history.ModeDirectory, nil
}

func (t *Tree) file(path string) (history.File, error) {
	info, err := os.Lstat(t.path(path))
	if err != nil {
		return history.File{}, err
	}
	return history.File{Path: path, Mode: mode(info.Mode().Type()), Object: path}, nil
}

// smallIn lists a directory's .small and its lookalikes; none if the directory does not exist.
func (t *Tree) smallIn(dir string) ([]string, error) {
	start := small.InDir(dir, "")
	entries, err := os.ReadDir(t.path(path.Dir(start)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, entry := range entries {
		if name := entry.Name(); name == small.Dir || small.Lookalike(name, small.Dir) {
			out = append(out, path.Join(path.Dir(start), name))
		}
	}
	return out, err
}

// walk lists the wanted files at any depth below a slash-separated path, and the
// directories below a .small.
func (t *Tree) walk(ctx context.Context, start string, wanted func(history.File) bool) ([]history.File, error) {
	var out []history.File
	take := func(f history.File) {
		if wanted(f) {
			out = append(out, f)
		}
	}
	err := filepath.WalkDir(t.path(start), func(name string, entry fs.DirEntry, err error) error {
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
			take(history.File{Path: rel, Mode: mode(entry.Type()), Object: rel})
			return nil
		}
		// In .small a directory is a finding, even an empty one.
		if _, _, in := small.SplitPath(path.Dir(rel)); in {
			take(history.File{Path: rel, Mode: history.ModeDirectory})
		}
		if entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return nil
	})
	return out, err
}

// mode is the mode that git would record for a kind of file.
func mode(kind fs.FileMode) string {
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

// Blob reads a file of at most limit bytes; for a larger one it returns the size. For a symbolic link it reads the link's text, as git
// stores it.
func (t *Tree) Blob(_ context.Context, object string, limit int64) (blob history.Blob, err error) {
	if info, err := os.Lstat(t.path(object)); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return t.link(object, limit)
	}
	f, err := os.Open(t.path(object))
	if err != nil {
		return blob, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Remedy: "make the file readable: `chmod u+r " + wording.ShellWord(t.path(object)) + "`", Err: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
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

func (t *Tree) link(object string, limit int64) (history.Blob, error) {
	target, err := os.Readlink(t.path(object))
	if err != nil {
		return history.Blob{}, &failure.Error{Message: fmt.Sprintf("cannot read %s: %v", object, err), Err: err}
	}
	blob := history.Blob{Size: int64(len(target))}
	if blob.Size <= limit {
		blob.Data = []byte(filepath.ToSlash(target))
	}
	return blob, nil
}

func (t *Tree) path(slashed string) string { return filepath.Join(t.root, filepath.FromSlash(slashed)) }
