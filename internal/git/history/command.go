package githistory

import (
	"context"
	"errors"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// oldGit is the remedy if the installed git lacks a feature that is used here.
const oldGit = "install a newer git (2.38 or later)"

// failure turns an error into a *failure.Error, unless it already is one or says that the context ended. It returns nil for nil.
func (r *Repo) failure(message string, err error) error {
	return r.failureWith(message, "see what is damaged: `git fsck`", err)
}

// failureWith does what failure does, with a given remedy instead of git fsck.
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
