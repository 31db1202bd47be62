package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"

	"github.com/small-gate/small-gate/internal/failure"
)

// maxPathspecs is how many pathspecs are put on one command line.
const maxPathspecs = 200

// Files lists what lies below the .small directories of a commit or of the
// index, and .small itself where it is something else than a directory, in
// order of path: all of them, or only those of the named workspace
// directories ("" or "." is the root). A path of the index with an unresolved
// conflict is listed once, marked, without mode and object.
func (r *Repo) Files(ctx context.Context, revision string, dirs ...string) ([]history.File, error) {
	return r.list(ctx, revision, pathspecsIn(dirs), InSmall)
}

// list lists the wanted files among those that pathspecs match in a commit or in
// the index, in order of path.
func (r *Repo) list(ctx context.Context, revision string, pathspecs []string, wanted func(path string) bool) ([]history.File, error) {
	var files []history.File
	for some := range slices.Chunk(pathspecs, maxPathspecs) {
		found, err := r.matched(ctx, revision, some)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	files = sorted(slices.DeleteFunc(files, func(f history.File) bool { return !wanted(f.Path) }))
	return files, CheckNames(files)
}

// matched lists what pathspecs match in a commit or in the index.
func (r *Repo) matched(ctx context.Context, revision string, pathspecs []string) ([]history.File, error) {
	if revision != history.Index {
		return r.commitFiles(ctx, revision, pathspecs)
	}
	if err := r.needIndex(); err != nil {
		return nil, err
	}
	return r.indexFiles(ctx, pathspecs)
}

// Paths lists every path of a commit or of the index, in order.
func (r *Repo) Paths(ctx context.Context, revision string) ([]string, error) {
	files, err := r.matched(ctx, revision, []string{everything})
	return PathsOf(files), err
}

// PathsOf are the paths of files that are in order, each once.
func PathsOf(files []history.File) []string {
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
func (r *Repo) Glob(ctx context.Context, revision string, patterns ...string) ([]history.File, error) {
	w := NewWatch(patterns)
	return r.list(ctx, revision, w.pathspecs(), w.Matches)
}

// commitFiles looks into those directories of a commit that the pathspecs may
// match.
func (r *Repo) commitFiles(ctx context.Context, revision string, pathspecs []string) ([]history.File, error) {
	if err := r.format.check(revision); err != nil {
		return nil, err
	}
	var changes []history.Change
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
	files := make([]history.File, len(changes))
	for i, c := range changes {
		files[i] = c.New
	}
	return sorted(files), nil
}

// indexFiles lists what a commit of the index would hold.
func (r *Repo) indexFiles(ctx context.Context, pathspecs []string) ([]history.File, error) {
	var files []history.File
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
				f = history.File{Path: path, Unmerged: true}
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
func (r *Repo) Attributes(ctx context.Context, revision string, dirs ...string) ([]history.File, error) {
	wanted := history.AttributePaths(dirs)
	specs := make([]string, len(wanted))
	for i, path := range wanted {
		specs[i] = literal(path)
	}
	return r.list(ctx, revision, specs, func(path string) bool { return slices.Contains(wanted, path) })
}

// withoutIntended removes the paths that are only intended to be added. In the
// index they look like empty files, but a commit leaves them out.
func (r *Repo) withoutIntended(ctx context.Context, files []history.File, pathspecs []string) ([]history.File, error) {
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
	return slices.DeleteFunc(files, func(f history.File) bool {
		return f.Object == r.format.emptyBlob && !here[f.Path]
	}), err
}

// ReadFile reads one regular file of a commit or of the index. found is false
// if the path is not there; something else than a regular file, a conflict, or
// more than limit bytes is an error.
func (r *Repo) ReadFile(ctx context.Context, revision, path string, limit int64) (data []byte, found bool, err error) {
	files, err := r.list(ctx, revision, []string{literal(path)}, func(string) bool { return true })
	if err != nil || len(files) == 0 {
		return nil, false, err
	}
	data, err = Content(ctx, r, files[0], path, limit)
	return data, err == nil, err
}

// Content reads the file that was found where the path was looked for.
// Something else than a regular file at the path itself, a conflict, or more
// than limit bytes is an error.
func Content(ctx context.Context, history history.History, f history.File, path string, limit int64) ([]byte, error) {
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

func sorted(files []history.File) []history.File {
	slices.SortFunc(files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(files)
}
