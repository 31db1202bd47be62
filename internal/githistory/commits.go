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

// Commits lists commits as [history.History] says, with parents read from the
// real objects. Where something is excluded, they have the lanes that they claim.
//
// In a shallow clone a range that reaches the boundary is an error, and so is
// an id that is not here.
func (r *Repo) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	if err := errors.Join(r.format.check(include...), r.format.check(exclude...)); err != nil {
		return nil, err
	}
	if len(include) == 0 {
		return nil, nil
	}
	commits, err := r.revList(ctx, include, exclude)
	if err != nil || !r.Shallow {
		return commits, err
	}
	return commits, r.checkBoundary(ctx, commits, len(exclude) > 0)
}

// revList asks git. --topo-order makes ranges right under clock skew.
func (r *Repo) revList(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	args := []string{"rev-list", "--topo-order", "--parents", "--stdin"}
	messages := len(exclude) > 0
	if messages {
		args = append(args, "--encoding=none", "--format=tformat:%B%x00")
	}
	var stdin strings.Builder
	for _, id := range include {
		stdin.WriteString(id + "\n")
	}
	for _, id := range exclude {
		stdin.WriteString("^" + id + "\n")
	}
	var commits []history.Commit
	err := r.git.Stream(ctx, strings.NewReader(stdin.String()), func(out *bufio.Reader) (err error) {
		commits, err = r.readCommits(out, messages)
		return err
	}, args...)
	if err != nil {
		return nil, r.explainMissing(ctx, "cannot list commits", err, slices.Concat(include, exclude)...)
	}
	return commits, nil
}

// readCommits reads lines of ids: a commit and its parents. With messages, each
// line begins with a word and is followed by the message and
//
//	NUL LF
func (r *Repo) readCommits(out *bufio.Reader, messages bool) ([]history.Commit, error) {
	var commits []history.Commit
	for {
		line, err := out.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return commits, nil
		}
		if err != nil {
			return nil, noEOF(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if messages {
			line = strings.TrimPrefix(line, "commit ")
		}
		ids := strings.Split(line, " ")
		if err := r.format.check(ids...); err != nil {
			return nil, err
		}
		c := history.Commit{ID: ids[0], Parents: ids[1:]}
		if messages {
			if c.Lanes, err = readLanes(out); err != nil {
				return nil, err
			}
		}
		commits = append(commits, c)
	}
}

// readLanes reads a message and what follows it.
func readLanes(out *bufio.Reader) ([]string, error) {
	message, err := out.ReadBytes(0)
	if err != nil {
		return nil, noEOF(err)
	}
	if end, err := out.ReadByte(); err != nil || end != '\n' {
		return nil, noEOF(errors.Join(err, errors.New("git rev-list ended a message otherwise than asked")))
	}
	return history.ClaimedLanes(message[:len(message)-1]), nil
}

// explainMissing makes outcome 2 of a git process that failed or stopped early:
// if one of the commits is not in the clone, the failure names it.
func (r *Repo) explainMissing(ctx context.Context, message string, err error, ids ...string) error {
	if missing := r.firstMissing(ctx, ids); missing != "" {
		return NotHere(missing, err)
	}
	return r.failure(message, err)
}

// firstMissing is the first of some ids that leads to no commit that is here; empty
// if all do, or if git cannot tell.
func (r *Repo) firstMissing(ctx context.Context, ids []string) string {
	var stdin strings.Builder
	for _, id := range ids {
		stdin.WriteString(id + "^{commit}\n")
	}
	out, err := r.git.Output(ctx, strings.NewReader(stdin.String()), "cat-file", "--batch-check=%(objectname)", "--buffer")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return !r.format.valid(line) })
	if err != nil || len(lines) != len(ids) || i < 0 {
		return ""
	}
	return ids[i]
}

// noEOF makes the end of output in the middle of a record an error of its own.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
