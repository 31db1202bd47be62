package githistory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// unshallowRemedy says how to complete a shallow clone: one made by hand, by GitHub Actions or by GitLab CI.
const unshallowRemedy = "in a clone: `git fetch --unshallow`\n" +
	`with actions/checkout: fetch-depth: 0
in GitLab CI: GIT_DEPTH: "0"`

// newerGitRemedy is for a git that lacks a feature that is used here.
const newerGitRemedy = "install a newer git (2.38 or later)"

// The reader on git and the one on go-git share the failures below, so that both print the same messages.

// NotHere returns the failure for a needed commit that the clone lacks.
func NotHere(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("commit %s is not in this clone", id),
		Remedy:  "`git fetch origin " + id + "`",
		Err:     errors.Join(history.ErrLacking, cause),
	}
}

// historyHidden returns the failure for a commit whose needed parents a shallow clone lacks.
func historyHidden(id string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("this is a shallow clone: the history before commit %s is needed and not here", id),
		Remedy:  unshallowRemedy,
		Err:     history.ErrLacking,
	}
}

// Unreadable returns the failure for an object that should be in the repository.
func Unreadable(id string, cause error) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("object %s cannot be read from the repository", id),
		Remedy:  "see what is damaged: `git fsck`",
		Err:     cause,
	}
}

// ErrDamaged is wrapped by the failure for an object whose content does not match its id. No reader can repair it.
var ErrDamaged = errors.New("its content is not what its id says")

// Damaged returns the failure for an object whose content does not match its id.
func Damaged(id string) *failure.Error {
	f := Unreadable(id, ErrDamaged)
	f.Message += ": " + ErrDamaged.Error()
	return f
}

// Nowhere returns the failure for a directory outside any repository.
func Nowhere(dir string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%s is not in a git repository", wording.Printable(dir)),
		Remedy:  "go to a repository, or make one: `git init`",
		Err:     ErrNotRepository,
	}
}

// CannotOpen returns the beginning of the message about a repository that exists but cannot be used.
func CannotOpen(dir string) string { return "cannot open the repository of " + wording.Printable(dir) }

// NotResolved returns the failure for a name that leads to no commit. isID says whether the name is a full object id.
func NotResolved(name string, shallow, isID bool, cause error) *failure.Error {
	f := &failure.Error{Message: fmt.Sprintf("%q does not name a commit of this clone", name), Err: errors.Join(history.ErrLacking, cause)}
	switch {
	case name == "HEAD":
		f.Remedy = "this branch has no commit yet: commit first"
	case shallow:
		f.Remedy = unshallowRemedy
	case isID:
		f.Remedy = "`git fetch origin " + name + "`"
	default:
		f.Remedy = "list the names that exist: `git branch --all`, `git tag`; or fetch: `git fetch origin`"
	}
	return f
}

// IsRevision reports whether git can safely be given a name as a revision: git would not read it as an option, as commits to leave out, or as two lines.
func IsRevision(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "^") && !strings.ContainsAny(name, "\x00\n")
}

// refIn returns the name with which a revision begins, without the suffixes of gitrevisions(7): HEAD for HEAD~2.
func refIn(revision string) string {
	for _, suffix := range []string{"^", "~", ":", "@{"} {
		revision, _, _ = strings.Cut(revision, suffix)
	}
	if revision == "@" {
		return "HEAD"
	}
	return revision
}

// NotARevision returns the failure for a name that cannot be a revision.
func NotARevision(name string) *failure.Error {
	return &failure.Error{
		Message: fmt.Sprintf("%q is not the name of a revision", name),
		Remedy:  "name a commit, a branch or a tag",
	}
}

// toFailure turns an error into a *failure.Error whose remedy is git fsck. It returns nil, a *failure.Error and a context's error unchanged.
func (r *Repo) toFailure(message string, err error) error {
	return r.toFailureWithRemedy(message, "see what is damaged: `git fsck`", err)
}

// toFailureWithRemedy does what toFailure does, with the given remedy.
func (r *Repo) toFailureWithRemedy(message, remedy string, err error) error {
	switch {
	case failure.IsComplete(err):
		return err
	case gitcmd.IsNotFound(err):
		return gitcmd.NotFound(err)
	}
	return &failure.Error{Message: message + ": " + wording.Printable(err.Error()), Remedy: remedy, Err: err}
}
