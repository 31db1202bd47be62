package githistory

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// Commits lists commits as [history.History] says, with the parents that the objects name.
//
// In a shallow clone, it fails if the range reaches the boundary. It also fails if the clone lacks one of the ids.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	if err := errors.Join(r.format.Check(include...), r.format.Check(exclude...)); err != nil {
		return nil, err
	}
	if len(include) == 0 {
		return nil, nil
	}
	commits, err := r.revList(ctx, include, exclude)
	if err != nil || !r.Shallow {
		r.rememberMergeBase(commits, include, exclude)
		return commits, err
	}
	return commits, r.checkRangeComplete(ctx, commits, len(exclude) > 0)
}

// rememberMergeBase stores the merge base of two commits if the list of a range shows it: if a listed commit has exclude as a parent, then include
// descends from exclude, which is their only merge base.
func (r *Repo) rememberMergeBase(commits []history.Commit, include, exclude []string) {
	if len(include) != 1 || len(exclude) != 1 {
		return
	}
	if slices.ContainsFunc(commits, func(c history.Commit) bool { return slices.Contains(c.Parents, exclude[0]) }) {
		r.bases.Store([2]string{exclude[0], include[0]}, []string{exclude[0]})
		r.bases.Store([2]string{include[0], exclude[0]}, []string{exclude[0]})
	}
}

// revList lists commits with git rev-list. If dates are wrong, git can list commits that exclude contains, though it leaves none out; with
// --topo-order it does so more rarely.
func (r *Repo) revList(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	args := []string{"rev-list", "--topo-order", "--parents", "--stdin"}
	var stdin strings.Builder
	for _, id := range include {
		stdin.WriteString(id + "\n")
	}
	for _, id := range exclude {
		stdin.WriteString("^" + id + "\n")
	}
	var commits []history.Commit
	err := r.git.Stream(ctx, strings.NewReader(stdin.String()), func(out *bufio.Reader) (err error) {
		commits, err = r.readCommits(out)
		return err
	}, args...)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list commits", err, slices.Concat(include, exclude)...)
	}
	return commits, nil
}

// readCommits reads lines that each hold the id of a commit and the ids of its parents.
func (r *Repo) readCommits(out *bufio.Reader) ([]history.Commit, error) {
	var commits []history.Commit
	for {
		line, err := out.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return commits, nil
		}
		if err != nil {
			return nil, unexpectedEOF(err)
		}
		ids := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if err := r.format.Check(ids...); err != nil {
			return nil, err
		}
		commits = append(commits, history.Commit{ID: ids[0], Parents: ids[1:]})
	}
}

// explainMissing turns the error of a git process into a *failure.Error. If one of the commits is not in the clone, the failure names it.
func (r *Repo) explainMissing(ctx context.Context, message string, err error, ids ...string) error {
	if missing := r.firstMissing(ctx, ids); missing != "" {
		return NotHere(missing, err)
	}
	return r.toFailure(message, err)
}

// firstMissing returns the first id that names no commit of the clone; empty if all do, or if git cannot tell.
func (r *Repo) firstMissing(ctx context.Context, ids []string) string {
	var stdin strings.Builder
	for _, id := range ids {
		stdin.WriteString(id + "^{commit}\n")
	}
	out, err := r.git.Output(ctx, strings.NewReader(stdin.String()), "cat-file", "--batch-check=%(objectname)", "--buffer")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return !r.format.Valid(line) })
	if err != nil || len(lines) != len(ids) || i < 0 {
		return ""
	}
	return ids[i]
}

// unexpectedEOF replaces io.EOF, which would mean a regular end, by io.ErrUnexpectedEOF. Use it for reading inside a record.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
