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

// Commits lists commits as [history.History] says, with parents from the real objects.
//
// In a shallow clone a range that reaches the boundary is an error, as is an id that is not here.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	if err := errors.Join(r.format.Check(include...), r.format.Check(exclude...)); err != nil {
		return nil, err
	}
	if len(include) == 0 {
		return nil, nil
	}
	commits, err := r.revList(ctx, include, exclude)
	if err != nil || !r.Shallow {
		r.noteBase(commits, include, exclude)
		return commits, err
	}
	return commits, r.checkBoundary(ctx, commits, len(exclude) > 0)
}

// noteBase remembers where two histories part if the commits that one has and the other lacks show it: one of them follows the other's tip,
// which is then their only best common ancestor.
func (r *Repo) noteBase(commits []history.Commit, include, exclude []string) {
	if len(include) != 1 || len(exclude) != 1 {
		return
	}
	if slices.ContainsFunc(commits, func(c history.Commit) bool { return slices.Contains(c.Parents, exclude[0]) }) {
		r.bases.Store([2]string{exclude[0], include[0]}, []string{exclude[0]})
		r.bases.Store([2]string{include[0], exclude[0]}, []string{exclude[0]})
	}
}

// revList lists commits with git. --topo-order makes ranges right despite clock skew.
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

// readCommits reads lines of ids: a commit and its parents.
func (r *Repo) readCommits(out *bufio.Reader) ([]history.Commit, error) {
	var commits []history.Commit
	for {
		line, err := out.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return commits, nil
		}
		if err != nil {
			return nil, noEOF(err)
		}
		ids := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if err := r.format.Check(ids...); err != nil {
			return nil, err
		}
		commits = append(commits, history.Commit{ID: ids[0], Parents: ids[1:]})
	}
}

// explainMissing makes outcome 2 of a git process that failed or stopped early: if one of the commits is not in the clone, the failure
// names it.
func (r *Repo) explainMissing(ctx context.Context, message string, err error, ids ...string) error {
	if missing := r.firstMissing(ctx, ids); missing != "" {
		return NotHere(missing, err)
	}
	return r.failure(message, err)
}

// firstMissing is the first id that leads to no commit here; empty if all do, or if git cannot tell.
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

// noEOF makes the end of output in the middle of a record a distinct error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
