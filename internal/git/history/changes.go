package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Diff compares trees as [history.History] says. One git process compares all edges between two commits. Every other edge takes a process of its
// own.
func (r *Repo) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	filter := NewFilter(f)
	pathspecs := filter.pathspecs()
	if err := r.format.Check(commitsOf(edges)...); err != nil {
		return nil, err
	}
	results := make([][]history.Change, len(edges))
	var commitEdges []int // indexes of the edges between two commits
	for i, e := range edges {
		var err error
		switch {
		case e.Parent == "":
			results[i], err = r.diffFromEmptyTree(ctx, e.Child, pathspecs)
		case e.Child == history.Index:
			results[i], err = r.diffIndex(ctx, e.Parent, pathspecs)
		default:
			commitEdges = append(commitEdges, i)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.diffCommits(ctx, edges, commitEdges, pathspecs, results); err != nil {
		return nil, err
	}
	for i, changes := range results {
		changes = slices.DeleteFunc(changes, func(c history.Change) bool { return !filter.Matches(c.Path) })
		slices.SortFunc(changes, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
		if err := CheckNames(changes, func(c history.Change) string { return c.Path }); err != nil {
			return nil, err
		}
		results[i] = changes
	}
	return results, nil
}

// commitsOf lists the commits of the edges, without the index and the empty tree.
func commitsOf(edges []history.Edge) []string {
	var ids []string
	for _, e := range edges {
		if e.Parent != "" {
			ids = append(ids, e.Parent)
		}
		if e.Child != history.Index {
			ids = append(ids, e.Child)
		}
	}
	return ids
}

// diffCommits compares the edges at the given indexes, all between two commits, and sets their results.
//
// For a line "child parent", git compares these two commits, whatever the child's real parents are. It silently skips a line whose child is
// missing, so every header of its output is checked.
func (r *Repo) diffCommits(ctx context.Context, edges []history.Edge, indexes []int, pathspecs []string, results [][]history.Change) error {
	if len(indexes) == 0 {
		return nil
	}
	var stdin strings.Builder
	for _, n := range indexes {
		stdin.WriteString(edges[n].Child + " " + edges[n].Parent + "\n")
	}
	args := slices.Concat([]string{"diff-tree", "--stdin", "-r", "--always"}, rawArgs, []string{"--"}, pathspecs)
	err := r.gitWithoutIndex().Stream(ctx, strings.NewReader(stdin.String()), func(out *bufio.Reader) error {
		for _, n := range indexes {
			if err := readHeader(out, edges[n].Child); err != nil {
				return err
			}
			changes, err := r.readChanges(out)
			if err != nil {
				return err
			}
			results[n] = changes
		}
		return requireEnd(out)
	}, args...)
	if err != nil {
		return r.explainMissing(ctx, "cannot compare commits", err, commitsOf(edges)...)
	}
	return nil
}

// diffFromEmptyTree compares the empty tree with a commit or with the index. It lists the files, because git's comparison of the empty tree with
// the index does not show unmerged paths.
func (r *Repo) diffFromEmptyTree(ctx context.Context, child string, pathspecs []string) ([]history.Change, error) {
	files, err := r.listFiles(ctx, child, pathspecs)
	changes := make([]history.Change, len(files))
	for i, f := range files {
		changes[i] = history.Change{Path: f.Path, New: f}
	}
	return changes, err
}

// diffIndex compares a commit with the index. It leaves out paths that are only intended to be added (git add --intent-to-add), as a commit does.
func (r *Repo) diffIndex(ctx context.Context, parent string, pathspecs []string) ([]history.Change, error) {
	if err := r.requireIndex(); err != nil {
		return nil, err
	}
	changes, err := r.rawDiff(ctx, r.git, pathspecs, "diff-index", "--cached", "--ita-invisible-in-index", parent)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot compare the index with "+parent, err, parent)
	}
	return changes, nil
}

// requireIndex fails if there is no work tree, and so no index; git would treat the index as empty.
func (r *Repo) requireIndex() error {
	if r.Top != "" {
		return nil
	}
	return &failure.Error{
		Message: fmt.Sprintf("%s has no work tree, so there is no index to judge", wording.Printable(r.GitDir)),
		Remedy:  "name a commit instead, or run this in a work tree",
	}
}

// requireEnd fails if git has printed more than expected.
func requireEnd(out *bufio.Reader) error {
	rest, err := out.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("git printed more than was asked for, beginning with %q", rest)
}
