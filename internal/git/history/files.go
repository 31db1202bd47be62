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

// maxPathspecs is how many pathspecs are passed to one git command. git compares each path with all of them: to list everything is faster than more.
const maxPathspecs = 200

// List lists files as [history.Tree] says. It lists an unmerged path of the index once, with Unmerged set and without mode and object.
func (r *Repo) List(ctx context.Context, revision string, f history.Filter) ([]history.File, error) {
	filter := NewFilter(f)
	if all := r.indexFiles.Load(); all != nil && revision == history.Index {
		var files []history.File
		if f.Workspaces {
			files = make([]history.File, 0, len(*all)) // workspaces may be most of a large index
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
		calls := filter.twinPathspecs()
		if specs := filter.pathspecs(); len(specs) > 0 {
			calls = append(calls, specs)
		}
		for _, some := range calls {
			found, err := r.listFiles(ctx, revision, some)
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

// ListIndex lists all files of the index and keeps the list, from which [Repo.List] then answers: git takes long to read a large index. Use it
// only in a hook, during which the index does not change.
func (r *Repo) ListIndex(ctx context.Context) ([]history.File, error) {
	files, err := r.List(ctx, history.Index, history.Filter{All: true})
	if err != nil {
		return nil, err
	}
	r.indexFiles.Store(&files)
	return files, nil
}

// listFiles lists the files of a commit or of the index that the pathspecs match.
func (r *Repo) listFiles(ctx context.Context, revision string, pathspecs []string) ([]history.File, error) {
	if revision == history.Index {
		return r.listIndexFiles(ctx, pathspecs)
	}
	if err := r.format.Check(revision); err != nil {
		return nil, err
	}
	changes, err := r.rawDiff(ctx, r.gitWithoutIndex(), pathspecs, "diff-tree", "-r", r.format.EmptyTree, revision)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list the files of "+revision, err, revision)
	}
	files := make([]history.File, len(changes))
	for i, c := range changes {
		files[i] = c.New
	}
	return files, nil
}

// listIndexFiles lists the files that a commit of the index would have.
func (r *Repo) listIndexFiles(ctx context.Context, pathspecs []string) ([]history.File, error) {
	if err := r.requireIndex(); err != nil {
		return nil, err
	}
	var files []history.File
	hasEmptyFiles := false
	args := slices.Concat([]string{"ls-files", "-s", "-z", "--full-name", "--"}, pathspecs)
	err := r.git.Stream(ctx, nil, func(out *bufio.Reader) error {
		return readRecords(out, func(info []string, path string) error {
			// info holds the mode, the id and the stage
			if len(info) != 3 {
				return fmt.Errorf("git ls-files printed %q", wording.Printable(strings.Join(info, " ")))
			}
			f, err := r.makeFile(path, info[0], info[1])
			if info[2] != "0" {
				f = history.File{Path: path, Unmerged: true}
				if n := len(files); n > 0 && files[n-1] == f {
					return err
				}
			}
			hasEmptyFiles = hasEmptyFiles || f.Object == r.format.emptyBlob
			files = append(files, f)
			return err
		})
	}, args...)
	if err == nil && hasEmptyFiles {
		files, err = r.dropIntentToAdd(ctx, files, pathspecs)
	}
	return files, r.toFailure("cannot read the index", err)
}

// Sparse returns those of the given index paths that a sparse checkout keeps out of the work tree. One git command lists the whole index if there
// are many: to match each of its paths with many pathspecs takes longer.
func (r *Repo) Sparse(ctx context.Context, paths []string) ([]string, error) {
	if err := r.requireIndex(); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	var specs []string
	for _, path := range paths {
		wanted[path] = true
		specs = append(specs, ":(top,literal)"+path)
	}
	switch {
	case len(specs) == 0:
		return nil, nil
	case len(specs) > maxPathspecs:
		specs = []string{":(top)"}
	}
	out, err := r.git.Output(ctx, nil, slices.Concat([]string{"ls-files", "-t", "-z", "--full-name", "--"}, specs)...)
	if err != nil {
		return nil, r.toFailure("cannot read the index", err)
	}
	var sparse []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		if path, ok := strings.CutPrefix(line, "S "); ok && wanted[path] {
			sparse = append(sparse, path)
		}
	}
	return sparse, nil
}

// dropIntentToAdd removes the paths that are only intended to be added (git add --intent-to-add). The index holds an empty file for such a path,
// but a commit leaves it out.
func (r *Repo) dropIntentToAdd(ctx context.Context, files []history.File, pathspecs []string) ([]history.File, error) {
	changes, err := r.rawDiff(ctx, r.git, pathspecs, "diff-index", "--cached", "--ita-invisible-in-index", r.format.EmptyTree)
	inCommit := map[string]bool{}
	for _, c := range changes {
		inCommit[c.Path] = true
	}
	return slices.DeleteFunc(files, func(f history.File) bool {
		return f.Object == r.format.emptyBlob && !inCommit[f.Path]
	}), err
}

// readRecords reads records that each consist of words, a tab, a path and a NUL, and passes the words and the path to each.
func readRecords(out *bufio.Reader, each func(info []string, path string) error) error {
	for {
		line, err := out.ReadString(0)
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return unexpectedEOF(err)
		}
		info, path, ok := strings.Cut(line[:len(line)-1], "\t")
		if !ok || path == "" {
			return fmt.Errorf("git printed a record of an unknown form: %q", wording.Printable(line))
		}
		if err := each(strings.Fields(info), path); err != nil {
			return err
		}
	}
}
