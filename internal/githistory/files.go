package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
)

// maxNamed is how many workspaces are named one by one on a command line.
const maxNamed = 100

// Files lists what lies below the .small directories of a commit or of the
// index, and .small itself where it is something else than a directory, in
// order of path: all of them, or only those of the named workspace
// directories ("" or "." is the root). A path of the index with an unresolved
// conflict is listed once, marked, without mode and object.
func (r *Repo) Files(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	if len(dirs) > maxNamed {
		files := make([]gate.File, 0, len(dirs))
		for chunk := range slices.Chunk(dirs, maxNamed) {
			some, err := r.Files(ctx, revision, chunk...)
			if err != nil {
				return nil, err
			}
			files = append(files, some...)
		}
		return sorted(files), nil
	}
	return r.list(ctx, revision, pathspecsIn(dirs), InSmall)
}

// list lists the wanted files among those that pathspecs match in a commit or in
// the index.
func (r *Repo) list(ctx context.Context, revision string, pathspecs []string, wanted func(path string) bool) ([]gate.File, error) {
	var files []gate.File
	var err error
	if revision == gate.Index {
		if err = r.needIndex(); err == nil {
			files, err = r.indexFiles(ctx, pathspecs)
		}
	} else {
		files, err = r.commitFiles(ctx, revision, pathspecs)
	}
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f gate.File) bool { return !wanted(f.Path) })
	return files, CheckNames(files)
}

// Paths lists every path of a commit or of the index, in order.
func (r *Repo) Paths(ctx context.Context, revision string) ([]string, error) {
	var files []gate.File
	var err error
	if revision == gate.Index {
		if err = r.needIndex(); err == nil {
			files, err = r.indexFiles(ctx, []string{everything})
		}
	} else {
		files, err = r.treeFiles(ctx, revision, nil)
	}
	if err != nil {
		return nil, err
	}
	return PathsOf(files), nil
}

// PathsOf are the paths of files that are in order, each once.
func PathsOf(files []gate.File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return slices.Compact(paths)
}

// Watch has Changes report the files too whose paths match one of the patterns.
// Before the first call there are none.
func (r *Repo) Watch(patterns []string) { r.watch = NewWatch(patterns) }

// Glob lists the files of a commit or of the index whose paths match one of the
// patterns, in order of path.
func (r *Repo) Glob(ctx context.Context, revision string, patterns ...string) ([]gate.File, error) {
	var files []gate.File
	for chunk := range slices.Chunk(patterns, maxNamed) {
		w := NewWatch(chunk)
		some, err := r.list(ctx, revision, w.pathspecs(), w.Matches)
		if err != nil {
			return nil, err
		}
		files = append(files, some...)
	}
	files = sorted(files)
	return files, CheckNames(files)
}

// commitFiles looks into those directories of a commit that the pathspecs may
// match.
func (r *Repo) commitFiles(ctx context.Context, revision string, pathspecs []string) ([]gate.File, error) {
	if err := r.format.check(revision); err != nil {
		return nil, err
	}
	var changes []gate.Change
	args := slices.Concat([]string{"diff-tree", "-r"}, rawArgs, []string{r.format.emptyTree, revision, "--"}, pathspecs)
	err := r.stream(ctx, nil, func(out *bufio.Reader) (err error) {
		if changes, err = r.readChanges(out); err != nil {
			return err
		}
		return atEnd(out)
	}, args...)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list the files of "+revision, err, []string{revision})
	}
	files := make([]gate.File, len(changes))
	for i, c := range changes {
		files[i] = c.New
	}
	return sorted(files), nil
}

// treeFiles lists the files of a commit at literal paths; all without any.
func (r *Repo) treeFiles(ctx context.Context, revision string, pathspecs []string) ([]gate.File, error) {
	if err := r.format.check(revision); err != nil {
		return nil, err
	}
	var files []gate.File
	args := slices.Concat([]string{"ls-tree", "-r", "-z", "--full-tree", revision, "--"}, pathspecs)
	err := r.stream(ctx, nil, func(out *bufio.Reader) error {
		return records(out, func(info []string, path string) error {
			// mode type id
			if len(info) != 3 {
				return fmt.Errorf("git ls-tree printed %q", Printable(strings.Join(info, " ")))
			}
			f, err := r.file(path, info[0], info[2])
			files = append(files, f)
			return err
		})
	}, args...)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list the files of "+revision, err, []string{revision})
	}
	return sorted(files), nil
}

// indexFiles lists what a commit of the index would hold.
func (r *Repo) indexFiles(ctx context.Context, pathspecs []string) ([]gate.File, error) {
	var files []gate.File
	doubtful := false
	args := slices.Concat([]string{"ls-files", "-s", "-z", "--full-name", "--"}, pathspecs)
	err := r.stream(ctx, nil, func(out *bufio.Reader) error {
		return records(out, func(info []string, path string) error {
			// mode id stage
			if len(info) != 3 {
				return fmt.Errorf("git ls-files printed %q", Printable(strings.Join(info, " ")))
			}
			f, err := r.file(path, info[0], info[1])
			if info[2] != "0" {
				f = gate.File{Path: path, Unmerged: true}
				if n := len(files); n > 0 && files[n-1] == f {
					return err
				}
			}
			doubtful = doubtful || f.Object == r.format.emptyBlob
			files = append(files, f)
			return err
		})
	}, args...)
	if err == nil && doubtful {
		files, err = r.withoutIntended(ctx, files, pathspecs)
	}
	return sorted(files), r.failure("cannot read the index", err)
}

// Attributes lists the files of attributes of a commit or of the index that bear
// on the named workspace directories, in order of path.
func (r *Repo) Attributes(ctx context.Context, revision string, dirs ...string) ([]gate.File, error) {
	if revision == gate.Index {
		if err := r.needIndex(); err != nil {
			return nil, err
		}
	}
	wanted := gate.AttributePaths(dirs)
	var all []gate.File
	for paths := range slices.Chunk(wanted, maxNamed) {
		specs := make([]string, len(paths))
		for i, path := range paths {
			specs[i] = literal(path)
		}
		list := r.treeFiles
		if revision == gate.Index {
			list = func(ctx context.Context, _ string, specs []string) ([]gate.File, error) {
				return r.indexFiles(ctx, specs)
			}
		}
		files, err := list(ctx, revision, specs)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	all = slices.DeleteFunc(all, func(f gate.File) bool { return !slices.Contains(wanted, f.Path) })
	return sorted(all), nil
}

// withoutIntended removes the paths that are only intended to be added. In the
// index they look like empty files, but a commit leaves them out.
func (r *Repo) withoutIntended(ctx context.Context, files []gate.File, pathspecs []string) ([]gate.File, error) {
	here := map[string]bool{}
	args := slices.Concat([]string{"diff-index", "--cached", "--ita-invisible-in-index"}, rawArgs, []string{r.format.emptyTree, "--"}, pathspecs)
	err := r.stream(ctx, nil, func(out *bufio.Reader) error {
		changes, err := r.readChanges(out)
		if err != nil {
			return err
		}
		for _, c := range changes {
			here[c.Path] = true
		}
		return atEnd(out)
	}, args...)
	return slices.DeleteFunc(files, func(f gate.File) bool {
		return f.Object == r.format.emptyBlob && !here[f.Path]
	}), err
}

// ReadFile reads one regular file of a commit or of the index. found is false
// if the path is not there; something else than a regular file, a conflict, or
// more than limit bytes is an error.
func (r *Repo) ReadFile(ctx context.Context, revision, path string, limit int64) (data []byte, found bool, err error) {
	var files []gate.File
	if revision == gate.Index {
		if err := r.needIndex(); err != nil {
			return nil, false, err
		}
		files, err = r.indexFiles(ctx, []string{literal(path)})
	} else {
		files, err = r.treeFiles(ctx, revision, []string{literal(path)})
	}
	if err != nil || len(files) == 0 {
		return nil, false, err
	}
	data, err = Content(ctx, r, files[0], path, limit)
	return data, err == nil, err
}

// Content reads the file that was found where the path was looked for.
// Something else than a regular file at the path itself, a conflict, or more
// than limit bytes is an error.
func Content(ctx context.Context, history gate.History, f gate.File, path string, limit int64) ([]byte, error) {
	switch {
	case f.Unmerged:
		return nil, &failure.Error{Message: fmt.Sprintf("%s has an unresolved conflict", Printable(path)), Remedy: "resolve it and git add it"}
	case f.Path != path || !f.Regular():
		return nil, &failure.Error{Message: fmt.Sprintf("%s is not a regular file", Printable(path)), Remedy: "replace it by a file"}
	}
	blob, err := history.Blob(ctx, f.Object, limit)
	if err != nil {
		return nil, err
	}
	if blob.Data == nil {
		return nil, &failure.Error{
			Message: fmt.Sprintf("%s has %d bytes, more than the limit of %d", Printable(path), blob.Size, limit),
			Remedy:  "make the file smaller",
		}
	}
	return blob.Data, nil
}

// records reads lines that end in NUL: words, a tab, and a path.
func records(out *bufio.Reader, each func(info []string, path string) error) error {
	for {
		line, err := out.ReadString(0)
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return noEOF(err)
		}
		info, path, ok := strings.Cut(line[:len(line)-1], "\t")
		if !ok || path == "" {
			return fmt.Errorf("git printed a file that is not understood: %q", Printable(line))
		}
		if err := each(strings.Fields(info), path); err != nil {
			return err
		}
	}
}

func sorted(files []gate.File) []gate.File {
	slices.SortFunc(files, func(a, b gate.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(files)
}
