package githistory

import (
	"context"
	"errors"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/git/run"
)

// oldGit is the remedy for a git that lacks a feature used here.
const oldGit = "install a newer git (2.38 or later)"

// failure makes outcome 2 of an error, unless it already is one or the context ended. It returns nil for nil.
func (r *Repo) failure(message string, err error) error {
	return r.failureWith(message, "see what is damaged: `git fsck`", err)
}

// failureWith is failure with a remedy other than the one for damage.
func (r *Repo) failureWith(message, remedy string, err error) error {
	var done *failure.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case gitcmd.IsNotFound(err):
		return gitcmd.NotFound(err)
	}
	return &failure.Error{Message: message + ": " + wording.Printable(err.Error()), Remedy: remedy, Err: err}
}
