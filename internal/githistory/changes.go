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
)

// Diff compares trees as [history.History] says. All edges between commits are
// compared in one git process, and each edge to the index in one of its own.
func (r *Repo) Diff(ctx context.Context, edges []history.Edge, f history.Filter) ([][]history.Change, error) {
	filter := NewFilter(f)
	pathspecs := filter.pathspecs()
	if err := r.checkEdges(edges); err != nil {
		return nil, err
	}
	results := make([][]history.Change, len(edges))
	var trees []int // edges between commits
	for i, e := range edges {
		if e.Child != history.Index {
			trees = append(trees, i)
			continue
		}
		changes, err := r.indexChanges(ctx, e.Parent, pathspecs)
		if err != nil {
			return nil, err
		}
		results[i] = changes
	}
	if err := r.treeChanges(ctx, edges, trees, pathspecs, results); err != nil {
		return nil, err
	}
	for i, changes := range results {
		changes = slices.DeleteFunc(changes, func(c history.Change) bool { return !filter.Matches(c.Path) })
		slices.SortFunc(changes, func(a, b history.Change) int { return strings.Compare(a.Path, b.Path) })
		if err := CheckNames(changes); err != nil {
			return nil, err
		}
		results[i] = changes
	}
	return results, nil
}

func (r *Repo) checkEdges(edges []history.Edge) error {
	for _, e := range edges {
		if e.Parent != "" {
			if err := r.format.check(e.Parent); err != nil {
				return err
			}
		}
		if e.Child != history.Index {
			if err := r.format.check(e.Child); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparison is one line for git diff-tree --stdin and the header with which
// the answer begins.
type comparison struct {
	line, header string
	end          byte
}

// treeChanges fills in the results of the edges whose numbers it gets.
//
// A line "child parent" compares the two, whatever the child's real parents
// are. git remembers the parent that it was told, so a child alone on a line
// would not mean its real parents any more: an edge from the empty tree is put
// as two trees instead. A line whose child is not here is passed over by git
// without an error; hence every header is checked.
func (r *Repo) treeChanges(ctx context.Context, edges []history.Edge, numbers []int, pathspecs []string, results [][]history.Change) error {
	if len(numbers) == 0 {
		return nil
	}
	comparisons, err := r.comparisons(ctx, edges, numbers)
	if err != nil {
		return err
	}
	var stdin strings.Builder
	for _, c := range comparisons {
		stdin.WriteString(c.line + "\n")
	}
	args := slices.Concat([]string{"diff-tree", "--stdin", "-r", "--root", "--always"}, rawArgs, []string{"--"}, pathspecs)
	err = r.stream(ctx, strings.NewReader(stdin.String()), func(out *bufio.Reader) error {
		for i, c := range comparisons {
			if err := readHeader(out, c.header, c.end); err != nil {
				return err
			}
			changes, err := r.readChanges(out)
			if err != nil {
				return err
			}
			results[numbers[i]] = changes
		}
		return atEnd(out)
	}, args...)
	if err != nil {
		return r.explainMissing(ctx, "cannot compare commits", err, edgeIDs(edges))
	}
	return nil
}

func (r *Repo) comparisons(ctx context.Context, edges []history.Edge, numbers []int) ([]comparison, error) {
	comparisons := make([]comparison, len(numbers))
	var roots []int // positions in comparisons
	var children []string
	for i, n := range numbers {
		e := edges[n]
		if e.Parent == "" {
			roots = append(roots, i)
			children = append(children, e.Child)
			continue
		}
		comparisons[i] = comparison{line: e.Child + " " + e.Parent, header: e.Child}
	}
	if len(roots) == 0 {
		return comparisons, nil
	}
	trees, err := r.peel(ctx, children, "tree")
	if err != nil {
		return nil, r.failure("cannot look up trees", err)
	}
	for j, i := range roots {
		if trees[j] == "" {
			return nil, r.explainMissing(ctx, "cannot look up the tree of "+children[j], io.ErrUnexpectedEOF, children)
		}
		line := r.format.emptyTree + " " + trees[j]
		comparisons[i] = comparison{line: line, header: line, end: '\n'}
	}
	return comparisons, nil
}

// indexChanges compares a commit with the index. Paths that are only intended
// to be added are not in the index yet, as far as a commit is concerned.
func (r *Repo) indexChanges(ctx context.Context, parent string, pathspecs []string) ([]history.Change, error) {
	if err := r.needIndex(); err != nil {
		return nil, err
	}
	if parent == "" {
		// Against the empty tree git does not tell which paths are unmerged.
		files, err := r.indexFiles(ctx, pathspecs)
		changes := make([]history.Change, len(files))
		for i, f := range files {
			changes[i] = history.Change{Path: f.Path, New: f}
		}
		return changes, err
	}
	var changes []history.Change
	args := slices.Concat([]string{"diff-index", "--cached", "--ita-invisible-in-index"}, rawArgs, []string{parent, "--"}, pathspecs)
	err := r.stream(ctx, nil, func(out *bufio.Reader) (err error) {
		if changes, err = r.readChanges(out); err != nil {
			return err
		}
		return atEnd(out)
	}, args...)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot compare the index with "+parent, err, []string{parent})
	}
	return changes, nil
}

// needIndex fails where there is no index to speak of: git would take it for
// an empty one.
func (r *Repo) needIndex() error {
	if r.Top != "" {
		return nil
	}
	return NoIndex(r.GitDir)
}

func edgeIDs(edges []history.Edge) []string {
	ids := make([]string, 0, 2*len(edges))
	for _, e := range edges {
		ids = append(ids, e.Child, e.Parent)
	}
	return ids
}

// atEnd fails if git has printed more than was asked for.
func atEnd(out *bufio.Reader) error {
	rest, err := out.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("git printed more than was asked for, beginning with %q", rest)
}
