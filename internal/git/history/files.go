package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// maxPathspecs is how many pathspecs go on one command line.
const maxPathspecs = 200

// List lists files as [history.Tree] says. An unmerged path of the index is listed once, marked, without mode and object.
func (r *Repo) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	filter := NewFilter(f)
	if all := r.held.Load(); all != nil && revision == history.Index {
		var files []history.File
		if f.Workspaces {
			files = make([]history.File, 0, len(*all)) // of a large index they may be most
		}
		for _, file := range *all {
			if filter.Matches(file.Path) {
				files = append(files, file)
			}
		}
		return files, nil
	}
	files, walked := r.walkTrees(ctx, revision, filter)
	if !walked {
		for _, some := range slices.AppendSeq(filter.twinspecs(), slices.Chunk(filter.pathspecs(), maxPathspecs)) {
			found, err := r.files(ctx, revision, some)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	files = slices.DeleteFunc(files, func(f history.File) bool { return !filter.Matches(f.Path) })
	slices.SortFunc(files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	files = slices.Compact(files)
	if err := CheckNames(files, func(f history.File) string { return f.Path }); err != nil {
		return nil, err
	}
	return files, nil
}

// HoldIndex lists all files of the index, and makes that the answer to all later questions of [Repo.List] about the index. It is for a
// hook, for whose time the index stays as it is: git reads a large one slowly.
func (r *Repo) HoldIndex(ctx context.Context) ([]history.File, error) {
	files, err := r.List(ctx, history.Index, history.Filter{All: true})
	if err != nil {
		return nil, err
	}
	r.held.Store(&files)
	return files, nil
}

// files lists what pathspecs match in a commit or in the index.
func (r *Repo) files(ctx context.Context, revision string, pathspecs []string) ([]history.File, error) {
	if revision == history.Index {
		return r.indexFiles(ctx, pathspecs)
	}
	if err := r.format.Check(revision); err != nil {
		return nil, err
	}
	changes, err := r.rawDiff(ctx, r.trees(), pathspecs, "diff-tree", "-r", r.format.EmptyTree, revision)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list the files of "+revision, err, revision)
	}
	files := make([]history.File, len(changes))
	for i, c := range changes {
		files[i] = c.New
	}
	return files, nil
}

// indexFiles lists what a commit of the index would have.
func (r *Repo) indexFiles(ctx context.Context, pathspecs []string) ([]history.File, error) {
	if err := r.needIndex(); err != nil {
		return nil, err
	}
	var files []history.File
	doubtful := false
	args := slices.Concat([]string{"ls-files", "-s", "-z", "--full-name", "--"}, pathspecs)
	err := r.git.Stream(ctx, nil, func(out *bufio.Reader) error {
		return records(out, func(info []string, path string) error {
			// mode id stage
			if len(info) != 3 {
				return fmt.Errorf("git ls-files printed %q", wording.Printable(strings.Join(info, " ")))
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
	return files, r.failure("cannot read the index", err)
}

// Sparse lists those of some index paths that are kept out of the work tree.
func (r *Repo) Sparse(ctx context.Context, paths []string) ([]string, error) {
	if err := r.needIndex(); err != nil {
		return nil, err
	}
	var sparse []string
	for some := range slices.Chunk(paths, maxPathspecs) {
		args := []string{"ls-files", "-t", "-z", "--full-name", "--"}
		for _, path := range some {
			args = append(args, ":(top,literal)"+path)
		}
		out, err := r.git.Output(ctx, nil, args...)
		if err != nil {
			return nil, r.failure("cannot read the index", err)
		}
		for _, line := range strings.Split(string(out), "\x00") {
			if path, ok := strings.CutPrefix(line, "S "); ok {
				sparse = append(sparse, path)
			}
		}
	}
	return sparse, nil
}

// withoutIntended removes intent-to-add paths. In the index they look like empty files, but a commit leaves them out.
func (r *Repo) withoutIntended(ctx context.Context, files []history.File, pathspecs []string) ([]history.File, error) {
	changes, err := r.rawDiff(ctx, r.git, pathspecs, "diff-index", "--cached", "--ita-invisible-in-index", r.format.EmptyTree)
	here := map[string]bool{}
	for _, c := range changes {
		here[c.Path] = true
	}
	return slices.DeleteFunc(files, func(f history.File) bool {
		return f.Object == r.format.emptyBlob && !here[f.Path]
	}), err
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
			return fmt.Errorf("git printed a file that is not understood: %q", wording.Printable(line))
		}
		if err := each(strings.Fields(info), path); err != nil {
			return err
		}
	}
}
