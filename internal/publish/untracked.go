package publish

import (
	"context"
	"errors"
	"slices"

	"github.com/small-gate/small-gate/internal/failure"
)

// putAway adds to a failure of git what to do about files that git does not know and does not overwrite, if there are such.
func (p *publishing) putAway(ctx context.Context, cause error) error {
	f := *failure.Of(cause)
	if f.Remedy != "" || p.state.Tip == "" || errors.Is(cause, context.Canceled) {
		return cause
	}
	if upstream, err := p.git.id(ctx, p.tracking()); err != nil || upstream == "" {
		return errors.Join(cause, err)
	}
	written, err := p.git.paths(ctx, "log", "-z", "--format=", "--name-only", "--no-renames", p.state.Tip+"..."+p.tracking())
	if err != nil {
		return errors.Join(cause, err)
	}
	untracked, err := p.git.paths(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--", ":/")
	if err != nil {
		return errors.Join(cause, err)
	}
	inTheWay := slices.DeleteFunc(untracked, func(path string) bool { return !slices.Contains(written, path) })
	if len(inTheWay) == 0 {
		return cause
	}
	f.Remedy = "put away what is in the way, as a stash: `git stash push -q --include-untracked -- " + topPaths(inTheWay) + "`, then `small-hook sync`"
	f.Err = cause
	return &f
}
