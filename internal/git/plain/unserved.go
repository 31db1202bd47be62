package plain

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
)

// ErrUnserved is in the chain of every error for a repository, or something in it, that this reader does not support. git may support it.
var ErrUnserved = errors.New("not served by the go-git reader")

// useGit is the remedy.
const useGit = "read it with the installed git: `--reader git`"

// unserved refuses something by name.
func unserved(format string, args ...any) error {
	return &failure.Error{
		Message: "the go-git reader does not serve this repository: " + fmt.Sprintf(format, args...),
		Remedy:  useGit,
		Err:     ErrUnserved,
	}
}

// alive fails if the context has ended.
func alive(ctx context.Context, doing string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// cannot makes outcome 2 of an error, unless it already is one or the context ended. It returns nil for nil.
func cannot(message string, err error) error {
	var done *failure.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &failure.Error{Message: message + ": " + wording.Printable(err.Error()), Remedy: useGit, Err: errors.Join(ErrUnserved, err)}
}
