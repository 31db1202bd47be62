package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/wording"
)

// ErrUnserved is in the chain of every error that says that this reader does
// not serve a repository, or something in it. git may serve it.
var ErrUnserved = errors.New("not served by the embedded reader")

// useGit is what to do then.
const useGit = "read it with the installed git: `--reader git`"

// unserved refuses something by name.
func unserved(format string, args ...any) *failure.Error {
	return &failure.Error{
		Message: "the embedded reader does not serve this repository: " + fmt.Sprintf(format, args...),
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

// cannot makes outcome 2 of an error, unless it is one already or the context
// ended. It returns nil for nil.
func cannot(message string, err error) error {
	var done *failure.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &failure.Error{
		Message: message + ": " + wording.Printable(err.Error()),
		Remedy:  useGit,
		Err:     errors.Join(ErrUnserved, err),
	}
}
